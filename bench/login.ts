import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { supervisorPaths } from '../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../plugins/supervisor/find-supervisor.ts'
import { findPaths } from '../src/paths.ts'
import type { Result } from './result.ts'

const KINDS = ['plain', 'logged-in'] as const
const ROUNDS = 8
const SECONDS = 2
const MOST_MS = 0.05
const TOKEN = 'token-of-the-bench'

const here = (file: string) => new URL(file, import.meta.url).pathname
const exec = promisify(execFile)
const result = Buffer.from(
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'x'.repeat(950) }] } }),
)

/** A remote server with a place for each kind, and the token endpoint of its provider. */
async function remoteServer() {
  const counts = { plain: 0, 'logged-in': 0, wrong: 0, tokens: 0 }
  const server = createServer((request, response) => {
    const send = (body: Buffer) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
    const { url, headers } = request
    request.resume().on('end', () => {
      if (url === '/token') {
        counts.tokens++
        return send(
          Buffer.from(JSON.stringify({ access_token: TOKEN, token_type: 'Bearer', expires_in: 3600 })),
        )
      }
      const kind = url === '/logged-in' ? 'logged-in' : 'plain'
      if (headers.authorization === (kind === 'plain' ? undefined : `Bearer ${TOKEN}`)) counts[kind]++
      else counts.wrong++
      send(result)
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts, server }
}

async function load(url: string, children: ChildProcess[]): Promise<{ p50: number; total: number }> {
  const child = spawn(process.execPath, [here('proxy-load.ts'), url, '1', String(SECONDS)])
  children.push(child)
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const { p50, total, failed } = JSON.parse(String(line))
  if (failed > 0) throw new Error(`${failed} requests to ${url} failed`)
  return { p50, total }
}

/**
 * What a login adds to each request: two workloads of one supervisor of the built program have the same remote
 * server, and one of them is logged in there.
 */
export async function run(): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  const env = { HOME: home, PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: join(home, 'run') }
  const keelson = async (...args: readonly string[]) =>
    (await exec(process.execPath, [here('../dist/main.js'), ...args], { env })).stdout.trim()
  const remote = await remoteServer()
  const children: ChildProcess[] = []
  try {
    await writeFile(join(home, 'secret'), 'secret-of-the-bench', { mode: 0o600 })
    const login = [
      ...['--remote-auth-grant-type', 'client_credentials', '--remote-auth-client-id', 'bench'],
      ...['--remote-auth-token-url', `${remote.url}/token`],
      ...['--remote-auth-client-secret-file', join(home, 'secret')],
    ]
    const urls = {
      plain: await keelson('run', `${remote.url}/plain`, '--name', 'plain'),
      'logged-in': await keelson('run', `${remote.url}/logged-in`, '--name', 'logged-in', ...login),
    }
    const times: Record<(typeof KINDS)[number], number[]> = { plain: [], 'logged-in': [] }
    let measured = 0
    Object.assign(remote.counts, { plain: 0, 'logged-in': 0, wrong: 0 })
    for (let round = 0; round <= ROUNDS; round++) {
      for (const kind of round % 2 ? KINDS : KINDS.toReversed()) {
        const { p50, total } = await load(urls[kind], children)
        if (round === 0) continue // until the code is compiled
        times[kind].push(p50)
        measured += total
      }
    }
    const [plain, loggedIn] = [median(times.plain), median(times['logged-in'])]
    const { counts } = remote
    const isTold = counts.wrong === 0 && counts.plain > 0 && counts['logged-in'] > 0
    return {
      name: 'login',
      conditions:
        'one connection; supervisor, load and server in a process each; no core pinned; both take turns',
      measured: isTold ? measured : 0,
      figures: {
        'ms p50 of a request, plain': plain,
        'ms p50 of a request, logged in': loggedIn,
        [`ms p50 that the login adds (at most ${MOST_MS})`]: (loggedIn - plain).toFixed(3),
        'requests without the token that they should have': counts.wrong,
        'tokens that were asked for': counts.tokens,
      },
      ok: loggedIn - plain <= MOST_MS,
    }
  } finally {
    for (const child of children) child.kill()
    const supervisor = await findSupervisor(supervisorPaths(findPaths(env)))
    if (supervisor) process.kill(supervisor.info.pid, 'SIGTERM')
    remote.server.close()
    remote.server.closeAllConnections()
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
