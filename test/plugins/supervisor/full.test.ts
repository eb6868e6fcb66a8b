import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWorkloadStore } from '../../../plugins/state/workload-store.ts'
import { supervisorPaths } from '../../../plugins/supervisor/control-protocol.ts'
import { findSupervisor } from '../../../plugins/supervisor/find-supervisor.ts'
import { createSupervisorClient } from '../../../plugins/supervisor/supervisor-client.ts'
import { isRunning, processIdentity } from '../../../src/lib/process-identity.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { bundled } from '../../support/bundled.ts'
import { freePort } from '../../support/free-port.ts'
import { workload } from './hosting.ts'

// A real supervisor process, the real proxy, the process runtime and a real MCP server.

const program = bundled(new URL('./full-program.ts', import.meta.url))
const everything = new URL(
  '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  import.meta.url,
).pathname

let home: string
let env: Record<string, string>
const paths = () => findPaths(env)
const store = () =>
  createWorkloadStore({
    paths: paths(),
    log: createLog({ write: () => undefined, human: false, debug: false }),
  })
const client = () =>
  createSupervisorClient({
    paths: paths(),
    build: 'full',
    launch: () => ({ command: [process.execPath, program], env }),
    host: () => Promise.reject(new Error('not here')),
  })
const supervisorPid = async () => (await findSupervisor(supervisorPaths(paths())))?.info.pid ?? 0
const until = <T>(check: () => T) => vi.waitFor(check, { timeout: 30_000, interval: 50 })
const isOver = (pid: number) => until(() => expect(processIdentity(pid)).toBeUndefined())

const ports = new Map<string, number>()
async function prepare(name: string, transport: 'stdio' | 'streamable-http'): Promise<void> {
  const [port, target] = [await freePort(), await freePort()]
  ports.set(name, port)
  const stdio = transport === 'stdio'
  await store().configs.save(
    workload(name, {
      image: 'npx://run-arguments@1.0.0',
      no_sandbox: true,
      cmd_args: [process.execPath, everything, stdio ? 'stdio' : 'streamableHttp'],
      transport,
      port,
      target_port: target,
      env_vars: stdio ? {} : { PORT: String(target) },
    }),
  )
}

/** The name that the server behind a workload gives itself. */
async function hello(name: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${ports.get(name)}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    }),
    signal: AbortSignal.timeout(5000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status}: ${text}`)
  return /"serverInfo":\{[^}]*"name":"([^"]+)"/.exec(text)?.[1] ?? text
}

/** Number and start of the process behind a workload. */
async function serverOf(name: string): Promise<string> {
  const folder = join(paths().data, 'processes')
  for (const entry of await readdir(folder, { recursive: true })) {
    if (!entry.endsWith('.json')) continue
    const record = JSON.parse(await readFile(join(folder, entry), 'utf8')) as {
      name?: string
      process?: { identity: string }
    }
    if (record.name === name && record.process) return record.process.identity
  }
  throw new Error(`no process of ${name}`)
}

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ks-'))
  env = { HOME: home, PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: join(home, 'run') }
})
afterEach(async () => {
  for (const { name } of await store().configs.list()) await client().remove(name)
  const pid = await supervisorPid()
  if (pid) process.kill(pid, 'SIGTERM')
  if (pid) await isOver(pid)
  await rm(home, { recursive: true, force: true, maxRetries: 5 })
})

test('servers respond again after they were killed with SIGKILL', async () => {
  await prepare('web', 'streamable-http')
  await prepare('chat', 'stdio')
  await Promise.all([client().start('web'), client().start('chat')])
  for (const name of ['web', 'chat']) {
    expect(await hello(name)).toContain('everything')
    const identity = await serverOf(name)
    process.kill(Number.parseInt(identity, 10), 'SIGKILL')
    await until(async () => expect(await serverOf(name)).not.toBe(identity))
    await until(async () => expect(await hello(name)).toContain('everything'))
    await until(async () => expect((await store().statuses.read(name))?.status).toBe('running'))
  }
})

test('a supervisor killed with SIGKILL is replaced by the next command, and HTTP servers keep running', async () => {
  await prepare('web', 'streamable-http')
  await prepare('chat', 'stdio')
  await Promise.all([client().start('web'), client().start('chat')])
  const web = await serverOf('web')
  const pid = await supervisorPid()
  process.kill(pid, 'SIGKILL')
  await isOver(pid)
  await client().ensure()
  await until(async () => expect(await hello('web')).toContain('everything'))
  await until(async () => expect(await hello('chat')).toContain('everything'))
  expect(await serverOf('web')).toBe(web)
  expect(await supervisorPid()).not.toBe(pid)
})

test.each(['start', 'stop', 'remove'] as const)(
  'a supervisor killed in the middle of %s: the next one finishes it',
  async verb => {
    await prepare('web', 'streamable-http')
    if (verb !== 'start') await client().start('web')
    else await client().ensure()
    const pid = await supervisorPid()
    const done = client()[verb]('web')
    const begun = { start: 'starting', stop: 'stopping', remove: 'removing' }[verb]
    await until(async () => {
      const status = (await store().statuses.read('web'))?.status
      expect([begun, verb === 'start' ? 'running' : verb === 'stop' ? 'stopped' : undefined]).toContain(
        status,
      )
    })
    process.kill(pid, 'SIGKILL')
    await done
    if (verb === 'start') expect(await hello('web')).toContain('everything')
    else await expect(hello('web')).rejects.toThrow()
    const status = (await store().statuses.read('web'))?.status
    expect(status).toBe({ start: 'running', stop: 'stopped', remove: undefined }[verb])
  },
)

test('a workload in the foreground needs no supervisor, and stop from elsewhere ends it', async () => {
  await prepare('web', 'streamable-http')
  const foreground = spawn(process.execPath, [program, 'foreground', 'web'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(foreground, 'exit')
  await once(foreground.stdout, 'data')
  expect(await hello('web')).toContain('everything')
  expect(await supervisorPid()).toBe(0)
  expect((await store().statuses.read('web'))?.process_id).toBe(foreground.pid)
  await expect(client().start('web')).rejects.toMatchObject({ code: 'hosted_elsewhere' })
  const server = await serverOf('web')
  await client().stop('web')
  expect(await ended).toEqual([0, null])
  expect(isRunning(server)).toBe(false)
  expect((await store().statuses.read('web'))?.status).toBe('stopped')
})

test('a server that ends at once fails the start with what it said', async () => {
  const script = 'console.error("no database"); process.exit(3)'
  for (const transport of ['stdio', 'streamable-http'] as const) {
    await prepare('bad', transport)
    const config = await store().configs.get('bad')
    await store().configs.save({ ...config, cmd_args: [process.execPath, '-e', script] })
    await expect(client().start('bad')).rejects.toMatchObject({
      code: 'instance_ended',
      message: expect.stringMatching(/exit code 3[\s\S]*no database/),
    })
    expect((await store().statuses.read('bad'))?.status).toBe('error')
  }
})

/** A stdio server of a few lines of JavaScript. */
async function prepareScript(name: string, script: string): Promise<void> {
  await prepare(name, 'stdio')
  const config = await store().configs.get(name)
  await store().configs.save({ ...config, cmd_args: [process.execPath, '-e', script] })
}
const EVERY_LINE = "require('node:readline').createInterface({ input: process.stdin }).on('line', line => {"
const INITIALIZED = `console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: {
  protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'script', version: '1' } } }))`

test('a stdio server that ends after three seconds fails the start, with the flag for what it lacks', async () => {
  await prepareScript(
    'bad',
    "setTimeout(() => { console.error('GITHUB_TOKEN is required'); process.exit(1) }, 3000)",
  )
  await expect(client().start('bad')).rejects.toMatchObject({
    code: 'instance_ended',
    message: expect.stringMatching(/exit code 1[\s\S]*GITHUB_TOKEN is required/),
    hint: expect.stringMatching(/-e GITHUB_TOKEN=.*--secret NAME,target=GITHUB_TOKEN/),
  })
})

test('a stdio server that responds to the ping with an error runs', async () => {
  await prepareScript(
    'strict',
    `${EVERY_LINE} const message = JSON.parse(line)
      if (message.method === 'initialize') ${INITIALIZED}
      else console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32002, message: 'not yet' } })) })`,
  )
  await client().start('strict')
  expect(await store().statuses.read('strict')).toMatchObject({ status: 'running' })
  expect(await hello('strict')).toBe('script')
})

test.each([
  ['exits', 'process.exit(1)'],
  ['hangs until the next line', 'hung = true'],
])('a stdio server that %s at a ping before initialize runs, and is sent none', async (_, reaction) => {
  await prepareScript(
    'old',
    `let initialized = false, hung = false
    ${EVERY_LINE} const message = JSON.parse(line)
      if (hung) process.exit(1)
      if (message.method === 'initialize') { initialized = true; ${INITIALIZED} }
      else if (!initialized) ${reaction} })`,
  )
  await client().start('old')
  expect(await store().statuses.read('old')).toMatchObject({ status: 'running' })
  expect(await hello('old')).toBe('script')
})
