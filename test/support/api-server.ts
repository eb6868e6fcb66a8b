import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Value } from 'typebox/value'
import { expect, onTestFinished } from 'vitest'
import { isRunning } from '../../src/lib/process-identity.ts'
import { type KeelsonUser, keelsonUser } from './keelson.ts'
import { main } from './main.ts'

/** One answer, read. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; throws when it is none. */
  json(): never
}

/** `keelson serve` as a process of its own, in a home of its own. */
export interface ApiServer {
  readonly url: string
  readonly user: KeelsonUser
  readonly process: ChildProcess
  /** Asks, and checks that the answer is one that the OpenAPI document allows. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>
  /** Asks for a workload until it has this status. */
  untilStatus(name: string, status: string): Promise<void>
  /** What it has logged. */
  log(): string
  /** Operations that were asked for and succeeded. */
  readonly succeeded: ReadonlySet<string>
  readonly document: ApiDocument
  stop(): Promise<number | null>
}

export interface ApiDocument {
  readonly paths: Record<string, Record<string, Described>>
}

/** One operation, as the document describes it. */
export interface Described {
  readonly operationId: string
  readonly requestBody?: { content: { 'application/json': { schema: object } } }
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>
}

export async function startApi(
  options: {
    args?: readonly string[]
    user?: KeelsonUser
    openapi?: boolean
    /** Bearer token of all requests; one of their own is for `fetch`. */
    token?: string
  } = {},
): Promise<ApiServer> {
  const user = options.user ?? (await keelsonUser())
  const args = options.args ?? ['--port', '0']
  const child = spawn(process.execPath, [main, 'serve', `--openapi=${options.openapi ?? true}`, ...args], {
    env: user.env,
    cwd: user.home,
    ...(user.uid === undefined ? {} : { uid: user.uid, gid: user.uid }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', chunk => {
    log += chunk
  })
  const stop = () => end(child)
  onTestFinished(async () => {
    await stop()
    await stopSupervisor(user)
  })
  const url = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line)),
    once(child, 'exit').then(() => Promise.reject(new Error(`serve ended: ${log}`))),
  ])
  if (!url.startsWith('http')) {
    const unasked = () => Promise.reject(new Error('this server is asked by socket'))
    return {
      ...{ url, user, process: child, ask: unasked, untilStatus: unasked, log: () => log, stop },
      ...{ succeeded: new Set(), document: { paths: {} } },
    }
  }
  const headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }
  const described = await fetch(`${url}/api/openapi.json`, { headers })
  const document = described.ok ? withoutReferences(await described.text()) : { paths: {} }
  const succeeded = new Set<string>()

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Answered> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...more },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const described = describedAs(document, method, path)
    if (described) {
      assertDocumented(described, response, text)
      if (response.ok) succeeded.add(described.operationId)
    }
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) as never }
  }

  return {
    ...{ url, user, process: child, ask, log: () => log, stop, succeeded, document },
    async untilStatus(name, status) {
      const deadline = Date.now() + 20_000
      for (;;) {
        const { text } = await ask('GET', `/api/v1beta/workloads/${name}/status`)
        if (text.includes(`"${status}"`)) return
        if (Date.now() > deadline) throw new Error(`${name} is not ${status}: ${text}\n${log}`)
        await new Promise(resolve => setTimeout(resolve, 50))
      }
    },
  }
}

/** The document with each named schema in the places that refer to it, as checks of values need it. */
function withoutReferences(text: string): ApiDocument {
  const { components, paths } = JSON.parse(text)
  const resolve = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(resolve)
    if ('$ref' in value) return resolve(components.schemas[String(value.$ref).split('/').at(-1) ?? ''])
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member)]))
  }
  return { paths: resolve(paths) } as ApiDocument
}

/** The operation that a concrete path belongs to; words win over names. */
function describedAs(document: ApiDocument, method: string, path: string): Described | undefined {
  const plain = path.split('?')[0] ?? ''
  const fitting = Object.keys(document.paths)
    .filter(pattern =>
      new RegExp(`^${pattern.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(plain),
    )
    .sort((a, b) => a.split('{').length - b.split('{').length)
  return fitting.map(pattern => document.paths[pattern]?.[method.toLowerCase()]).find(Boolean)
}

function assertDocumented(described: Described, response: Response, text: string): void {
  const what = `${described.operationId} answers ${response.status}: ${text.slice(0, 300)}`
  const answer = described.responses[String(response.status)]
  expect(answer, `${what}, which is not documented`).toBeDefined()
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  if (!answer?.content) {
    expect(text, what).toBe('')
    return
  }
  const schema = answer.content[type]?.schema
  expect(schema, `${what} as ${type}, which is not documented`).toBeDefined()
  if (type !== 'application/json' || !schema) return
  expect([...Value.Errors(schema as never, JSON.parse(text))].slice(0, 3), what).toEqual([])
}

async function end(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const [code] = await exited
  return code
}

/** Ends the supervisor of this home alone: its own lock file names it. */
export async function stopSupervisor({ home }: KeelsonUser): Promise<void> {
  const holder = await readFile(join(home, '.local/share/keelson/supervisor/lock'), 'utf8').catch(() => '')
  const pid = Number.parseInt(holder, 10)
  if (!(pid > 0) || !isRunning(holder)) return
  process.kill(pid, 'SIGTERM')
  while (isRunning(holder)) await new Promise(resolve => setTimeout(resolve, 20))
}
