import { mkdir, mkdtemp, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWorkloadStore } from '../../../plugins/state/workload-store.ts'
import { type Info, supervisorPaths } from '../../../plugins/supervisor/control-protocol.ts'
import { requestSupervisor } from '../../../plugins/supervisor/control-request.ts'
import { createSupervisorClient } from '../../../plugins/supervisor/supervisor-client.ts'
import { isRunning, processIdentity } from '../../../src/lib/process-identity.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { bundled } from '../../support/bundled.ts'
import { freePort } from '../../support/free-port.ts'
import { workload } from './hosting.ts'

const program = bundled(new URL('./supervisor-program.ts', import.meta.url))
const clientProgram = bundled(new URL('./client-program.ts', import.meta.url))

let home: string
/** How many looks at a free lock it takes to believe that nobody comes any more. */
let patience: number
let env: Record<string, string>

const paths = () => findPaths(env)
const place = () => supervisorPaths(paths())
const store = () =>
  createWorkloadStore({
    paths: paths(),
    log: createLog({ write: () => undefined, human: false, debug: false }),
  })
const client = (build = 'one', ...args: string[]) =>
  createSupervisorClient({
    paths: paths(),
    build,
    launch: () => ({ command: [process.execPath, program, build, ...args], env }),
    host: () => Promise.reject(new Error('not here')),
  })
const info = async (): Promise<Info> =>
  JSON.parse((await requestSupervisor(place().socket, 'GET', '/info')).body)
const logged = async () =>
  (await readFile(place().log, 'utf8'))
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as { msg: string; pid?: number; workload?: string })
const startsOf = async () => (await logged()).filter(({ msg }) => msg === 'The supervisor is up.')
const until = <T>(check: () => T) => vi.waitFor(check, { timeout: 30_000, interval: 20 })
const isOver = (pid: number) => until(() => expect(processIdentity(pid)).toBeUndefined())

/** Process id of the watcher: the only child of the supervisor. */
const untilWatched = (pid: number) =>
  until(async () => {
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim()
    expect(children).toMatch(/^\d+$/)
    return Number(children)
  })

async function remote(name: string): Promise<string> {
  const { image: _, runtime: __, ...config } = workload(name, { remote_url: 'https://example.com/mcp' })
  const port = await freePort()
  await store().configs.save({ ...config, port })
  return `http://127.0.0.1:${port}`
}
const served = async (url: string) =>
  (await (await fetch(url)).json()) as { name: string; pid: number; build: string }

beforeEach(async () => {
  patience = 15
  home = await mkdtemp(join(tmpdir(), 'ks-'))
  env = { HOME: home, PATH: process.env.PATH ?? '', XDG_RUNTIME_DIR: join(home, 'run') }
  for (const area of ['config', 'data', 'state', 'cache'])
    env[`XDG_${area.toUpperCase()}_HOME`] = join(home, area)
})

afterEach(async () => {
  // Of two that were started at once the late one may still be on its way, so the lock has to stay free for a while.
  for (let free = 0; free < patience; free++) {
    const holder = await readFile(place().lock, 'utf8').catch(() => '')
    if (holder && isRunning(holder)) {
      free = 0
      const pid = Number.parseInt(holder, 10)
      process.kill(pid, 'SIGTERM')
      await isOver(pid)
    }
    await delay(20)
  }
  await rm(home, { recursive: true, force: true, maxRetries: 5 })
})

test('the first command starts a supervisor that outlives it, with a private socket', async () => {
  await execa(process.execPath, [clientProgram, program, 'one'], { env, extendEnv: false })
  const { pid, build } = await info()
  expect(build).toBe('one')
  expect(processIdentity(pid)).toBeDefined()
  expect((await stat(place().socket)).mode & 0o777).toBe(0o600)
  expect((await stat(dirname(place().socket))).mode & 0o777).toBe(0o700)
  await client().ensure()
  expect((await info()).pid).toBe(pid)
})

test('ten commands at once start exactly one', async () => {
  await Promise.all(
    Array.from({ length: 10 }, () =>
      execa(process.execPath, [clientProgram, program, 'one'], { env, extendEnv: false }),
    ),
  )
  expect(await startsOf()).toHaveLength(1)
  expect((await startsOf())[0]?.pid).toBe((await info()).pid)
})

test('killed with SIGKILL, it is replaced by the next command, and its workloads respond again', async () => {
  const url = await remote('far')
  patience = 100
  await client().start('far')
  const first = await served(url)
  process.kill(first.pid, 'SIGKILL')
  await isOver(first.pid)
  await client().ensure()
  const second = await served(url) // what ran is taken over when `ensure` resolves
  expect(second.name).toBe('far')
  expect(second.pid).not.toBe(first.pid)
  expect((await store().statuses.read('far'))?.process_id).toBe(second.pid)
})

test('killed with SIGKILL, it is replaced without a command, again and again', async () => {
  patience = 100
  const url = await remote('far')
  await client().start('far')
  for (let round = 0; round < 3; round++) {
    const { pid } = await until(() => served(url))
    await untilWatched(pid)
    process.kill(pid, 'SIGKILL')
    await isOver(pid)
    expect((await until(() => served(url))).pid).not.toBe(pid)
  }
})

test('a watcher that was killed is replaced', async () => {
  patience = 100
  const url = await remote('far')
  await client('one', '1000').start('far')
  const { pid } = await served(url)
  const watcher = await untilWatched(pid)
  process.kill(watcher, 'SIGKILL')
  await until(async () => expect(await untilWatched(pid)).not.toBe(watcher))
  process.kill(pid, 'SIGKILL')
  expect((await until(() => served(url))).pid).not.toBe(pid)
})

test('no watcher runs after the last workload was stopped, and none after SIGTERM', async () => {
  await remote('far')
  await client().start('far')
  const { pid } = await info()
  const watcher = await untilWatched(pid)
  await client().stop('far')
  await isOver(watcher)
  await client().start('far')
  const next = await untilWatched(pid)
  process.kill(pid, 'SIGTERM')
  await isOver(pid)
  await isOver(next)
})

test('a request that loses its supervisor is sent to the next one', async () => {
  patience = 100
  const url = await remote('far')
  await client().ensure()
  const { pid } = await info()
  process.kill(pid, 'SIGSTOP') // it takes the connection and says nothing
  const start = client().start('far')
  process.kill(pid, 'SIGKILL')
  await start
  expect((await served(url)).pid).not.toBe(pid)
})

test('another build takes over: same port, new process, statuses kept', async () => {
  const url = await remote('far')
  await client('one').start('far')
  const { pid } = await served(url)
  await client('two').ensure()
  expect((await info()).build).toBe('two')
  const after = await until(() => served(url))
  expect(after).toMatchObject({ name: 'far', build: 'two' })
  await isOver(pid)
  expect((await store().statuses.read('far'))?.status).toBe('running')
  expect((await logged()).map(({ msg }) => msg)).toEqual([
    'The supervisor is up.',
    'The server is up.',
    'Handing over to a new supervisor.',
    'The supervisor is up.',
    'The server is up.',
  ])
})

test('two builds at once leave one supervisor', async () => {
  await client('one').ensure()
  await Promise.all(['two', 'three', 'two', 'three'].map(build => client(build).ensure()))
  await until(async () => {
    const alive = (await startsOf()).filter(({ pid }) => processIdentity(pid ?? 0))
    expect(alive.map(({ pid }) => pid)).toEqual([(await info()).pid])
  })
})

test('stop and remove travel by name', async () => {
  const url = await remote('far')
  await client().start('far')
  await client().stop('far')
  await expect(fetch(url)).rejects.toThrow()
  expect((await store().statuses.read('far'))?.status).toBe('stopped')
  await client().remove('far')
  expect(await store().configs.find('far')).toBeUndefined()
})

test('failures come back as they were', async () => {
  await expect(client().start('nobody')).rejects.toMatchObject({
    name: 'Failure',
    code: 'workload_missing',
    status: 404,
    message: 'There is no workload "nobody".',
    hint: expect.stringContaining('list --all'),
  })
  await expect(client().start('a/../b')).rejects.toMatchObject({ code: 'invalid_name' })
})

test('with nothing to host it ends by itself and leaves no socket', async () => {
  await client('one', '2000').ensure()
  const { pid } = await info()
  await isOver(pid)
  await expect(stat(place().socket)).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(stat(place().lock)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('with something to host it stays', async () => {
  const url = await remote('far')
  await client('one', '2000').start('far')
  const { pid } = await served(url)
  await client('one', '2000').stop('far')
  await isOver(pid) // idleness counts from the end of the last workload
  expect((await logged()).map(({ msg }) => msg)).toContain('Nothing to host; the supervisor ends.')
})

test('SIGTERM ends it with everything meant to run kept so', async () => {
  const url = await remote('far')
  await client().start('far')
  const { pid } = await served(url)
  process.kill(pid, 'SIGTERM')
  await isOver(pid)
  expect((await store().statuses.read('far'))?.status).toBe('running')
})

test('one that cannot start says why', async () => {
  await expect(client('broken').ensure()).rejects.toMatchObject({
    code: 'supervisor_unreachable',
    message: expect.stringContaining('this build cannot even start'),
    hint: expect.stringContaining('supervisor.log'),
  })
})

test('a second one refuses to run beside the first', async () => {
  await client().ensure()
  const { pid } = await info()
  const second = await execa(process.execPath, [program, 'one'], { env, extendEnv: false, reject: false })
  expect(second.exitCode).not.toBe(0)
  expect(second.stderr).toContain(`A supervisor is already running (process ${pid}).`)
  expect((await info()).pid).toBe(pid)
})

test('a session with another runtime folder finds the same supervisor', async () => {
  await client().ensure()
  const { pid } = await info()
  const elsewhere = createSupervisorClient({
    paths: findPaths({ ...env, XDG_RUNTIME_DIR: '' }),
    build: 'one',
    launch: () => ({ command: ['/nonexistent'], env }),
    host: () => Promise.reject(new Error('not here')),
  })
  await elsewhere.ensure()
  expect((await info()).pid).toBe(pid)
})

test('leftovers of a killed supervisor do not prevent a start', async () => {
  await mkdir(dirname(place().socket), { recursive: true })
  await mkdir(dirname(place().lock), { recursive: true })
  await writeFile(place().socket, '')
  await writeFile(place().lock, '999999@1')
  await writeFile(place().starting, '999999@1')
  await writeFile(place().journal, '{"torn')
  await client().ensure()
  expect((await info()).build).toBe('one')
})

test('a socket that somebody removed is made anew', async () => {
  const url = await remote('far')
  await client('one', '1000').start('far')
  const { pid } = await served(url)
  await unlink(place().socket)
  expect((await until(info)).pid).toBe(pid)
})

test('an uncaught error ends the supervisor, and the next one serves without a command', async () => {
  patience = 100
  const url = await remote('far')
  const fused = await remote('fused')
  await client().start('far')
  await client().start('fused')
  const { pid } = await served(url)
  await fetch(fused).catch(() => undefined)
  await isOver(pid)
  const after = await until(() => served(url))
  expect(after.pid).not.toBe(pid)
  expect((await logged()).find(({ msg }) => msg.startsWith('Uncaught error'))).toMatchObject({
    workload: 'fused',
  })
})

test('a workload that ends the supervisor three times in five minutes is quarantined', async () => {
  patience = 100
  const url = await remote('far')
  await remote('bomb')
  await client().start('far')
  await client()
    .start('bomb')
    .catch(() => undefined)
  await until(async () => expect((await store().statuses.read('bomb'))?.status).toBe('error'))
  expect((await store().statuses.read('bomb'))?.status_context).toContain('three times')
  expect((await until(() => served(url))).name).toBe('far')
  expect((await startsOf()).length).toBeLessThanOrEqual(5)
})

test('a request that the supervisor does not know is refused', async () => {
  await client().ensure()
  const { status, body } = await requestSupervisor(place().socket, 'POST', '/workloads/web/polish')
  expect(status).toBe(501)
  expect(JSON.parse(body)).toMatchObject({ code: 'supervisor_older' })
})
