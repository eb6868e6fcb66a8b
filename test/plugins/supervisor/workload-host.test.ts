import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { writeFileAtomic } from '../../../src/lib/atomic-file.ts'
import { processIdentity } from '../../../src/lib/process-identity.ts'
import { aborted, createFakeRuntime, echo, type FakeProgram } from '../../support/fake-runtime.ts'
import { type Hosting, hosting, stdio, workload } from './hosting.ts'

/** Serves until it is asked to end. */
const serve: FakeProgram = async ({ term, over }) => {
  await Promise.race([aborted(term), aborted(over)])
  return 0
}
const exitAtOnce: FakeProgram = async ({ stderr }) => {
  stderr.write('cannot open database\n')
  return 3
}
const engine = () => createFakeRuntime({ programs: { serve, echo, 'exit-at-once': exitAtOnce } })

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 5 })
const untilStatus = (hosted: Hosting, name: string, status: string) =>
  until(async () => expect(await hosted.status(name)).toBe(status))
const state = async (runtime: ReturnType<typeof engine>, name: string) => (await runtime.inspect(name))?.state

test('an HTTP workload runs behind its proxy, at the port its runtime published', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  const instance = await runtime.inspect('web')
  expect(instance?.state).toBe('running')
  expect(hosted.proxies.of('web')?.backends).toEqual([
    { kind: 'http', target: new URL(`http://127.0.0.1:${instance?.ports[0]?.hostPort}`), remote: false },
  ])
  expect(await hosted.store.statuses.read('web')).toMatchObject({
    status: 'running',
    process_id: process.pid,
    started_at: instance?.startedAt?.toISOString(),
  })
})

test('a stdio workload is attached and its instance is never restarted by the runtime', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(stdio('chat'))
  await hosted.host.start('chat')
  expect(hosted.proxies.of('chat')?.backends).toMatchObject([{ kind: 'stdio' }])
  expect(runtime.specs.get('chat')).toMatchObject({ stdio: true, restart: 'never', ports: [] })
})

test('a remote workload has no instance', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  const { image: _, runtime: __, ...config } = workload('far', { remote_url: 'https://example.com/mcp' })
  await hosted.store.configs.save(config)
  await hosted.host.start('far')
  expect(hosted.proxies.of('far')?.backends).toEqual([
    { kind: 'http', target: new URL('https://example.com/mcp'), remote: true },
  ])
  expect(await runtime.list()).toEqual([])
  expect(await hosted.status('far')).toBe('running')
})

test('a port that the proxy chose is kept in the run config', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(workload('web', { port: 0 }))
  await hosted.host.start('web')
  expect((await hosted.store.configs.get('web')).port).toBe(45_678)
})

test.each([
  ['that the user chose', 4000],
  ['that the proxy chooses', 0],
])('a change that is stored while the proxy opens, at a port %s, is in force', async (_what, port) => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(workload('web', { port }))
  const { open } = hosted.proxies
  let changes = 2
  hosted.proxies.open = async (config, ...rest) => {
    const proxy = await open(config, ...rest)
    if (changes-- > 0)
      await hosted.store.configs.save({ ...config, tools_deny: [...(config.tools_deny ?? []), 'drop'] })
    return proxy
  }

  await hosted.host.start('web')
  expect(hosted.proxies.of('web')?.config.tools_deny).toEqual(['drop', 'drop'])
  expect(hosted.proxies.made.filter(proxy => proxy.open)).toHaveLength(1)
  const stored = await hosted.store.configs.get('web')
  expect(stored).toMatchObject({ tools_deny: ['drop', 'drop'], port: port || 45_678 })
})

test('starting what runs changes nothing', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  const before = await runtime.inspect('web')
  await hosted.host.start('web')
  expect(await runtime.inspect('web')).toEqual(before)
  expect(hosted.proxies.made).toHaveLength(1)
})

test('operations on one workload queue up; those on others go on', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(workload('slow'))
  await hosted.store.configs.save(workload('quick', { port: 4001 }))
  const gate = Promise.withResolvers<void>()
  hosted.proxies.answers = name => (name === 'slow' ? gate.promise : Promise.resolve())
  const slow = [hosted.host.start('slow'), hosted.host.start('slow')]
  await hosted.host.start('quick')
  expect(await hosted.status('slow')).toBe('starting')
  gate.resolve()
  await Promise.all(slow)
  expect(hosted.proxies.made.map(proxy => proxy.config.name).sort()).toEqual(['quick', 'slow'])
})

test('a missing workload leaves nothing behind', async () => {
  const hosted = await hosting(engine())
  await expect(hosted.host.start('nobody')).rejects.toMatchObject({ code: 'workload_missing' })
  expect(await hosted.status('nobody')).toBeUndefined()
  await expect(hosted.host.stop('nobody')).rejects.toMatchObject({ code: 'workload_missing' })
  expect(hosted.host.busy).toBe(false)
})

test.each([
  ['HTTP', workload('bad', { image: 'exit-at-once' })],
  ['stdio', stdio('bad', { image: 'exit-at-once' })],
])('a %s server that ends at once fails the start with its last lines', async (_, config) => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  hosted.proxies.answers = () => new Promise(() => undefined)
  await hosted.store.configs.save(config)
  await expect(hosted.host.start('bad')).rejects.toMatchObject({
    code: 'instance_ended',
    message: expect.stringMatching(/exit code 3[\s\S]*cannot open database/),
  })
  expect(await runtime.inspect('bad')).toBeUndefined()
  expect(hosted.proxies.of('bad')).toBeUndefined()
  expect(await hosted.status('bad')).toBe('error')
  expect(await hosted.context('bad')).toContain('cannot open database')
  expect(hosted.host.busy).toBe(false)
})

test('a busy port fails before anything is made', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  hosted.proxies.fail = new Error('Port 4000 is already in use.')
  await expect(hosted.host.start('web')).rejects.toThrow('Port 4000')
  expect(await runtime.list()).toEqual([])
  expect(await hosted.store.statuses.read('web')).toMatchObject({
    status: 'error',
    status_context: 'Port 4000 is already in use.',
    process_id: 0,
  })
  hosted.proxies.fail = undefined
  await hosted.host.start('web')
  expect(await hosted.status('web')).toBe('running')
})

test('a missing image is an error and the listener is closed', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(workload('web', { image: 'no-such-image' }))
  await expect(hosted.host.start('web')).rejects.toMatchObject({ code: 'image_missing' })
  expect(hosted.proxies.of('web')).toBeUndefined()
  expect(await hosted.status('web')).toBe('error')
})

test('a server that never responds counts as unhealthy, and as running once it responds', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(workload('mute'))
  const answer = Promise.withResolvers<void>()
  let asked = 0
  hosted.proxies.answers = () => (asked++ ? answer.promise : Promise.reject(new Error('timed out')))
  await hosted.host.start('mute')
  expect(await hosted.status('mute')).toBe('unhealthy')
  expect(await hosted.context('mute')).toBe('timed out')
  answer.resolve()
  await untilStatus(hosted, 'mute', 'running')
})

test('a remote server that does not respond is unhealthy, and running once it does', async () => {
  const hosted = await hosting(engine(), { health: 30_000 })
  hosted.flows = false
  await hosted.store.configs.save(workload('far', { remote_url: 'https://far.example/mcp' }))
  hosted.proxies.answers = () => Promise.reject(new Error('POST /mcp returned status 502'))
  await hosted.host.start('far')
  expect(await hosted.status('far')).toBe('unhealthy')
  expect(await hosted.context('far')).toBe('POST /mcp returned status 502')
  hosted.proxies.answers = async () => undefined
  hosted.pass()
  await untilStatus(hosted, 'far', 'running')
})

test('a server that stops responding becomes unhealthy with the reason, and running when it responds again', async () => {
  const hosted = await hosting(engine(), { health: 30_000 })
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  expect(await hosted.status('web')).toBe('running')
  hosted.proxies.problem = 'HTTP 502 from example.com'
  await untilStatus(hosted, 'web', 'unhealthy')
  expect(await hosted.context('web')).toBe('HTTP 502 from example.com')
  hosted.proxies.problem = undefined
  await untilStatus(hosted, 'web', 'running')
  expect(await hosted.context('web')).toBeUndefined()
})

test('a stdio server that never responds counts as running, with a reason until it responds', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(stdio('mute'))
  const answer = Promise.withResolvers<void>()
  let asked = 0
  hosted.proxies.answers = () => (asked++ ? answer.promise : Promise.reject(new Error('timed out')))
  await hosted.host.start('mute')
  expect(await hosted.status('mute')).toBe('running')
  expect(await hosted.context('mute')).toContain('not responded within 15 seconds')
  answer.resolve()
  await until(async () => expect(await hosted.context('mute')).toBeUndefined())
  expect(await hosted.status('mute')).toBe('running')
})

test('a stdio server is "starting" until it responds', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(stdio('slow'))
  const answer = Promise.withResolvers<void>()
  hosted.proxies.answers = () => answer.promise
  const start = hosted.host.start('slow')
  await until(() => expect(hosted.proxies.of('slow')?.connected).toBe(true))
  expect(await hosted.status('slow')).toBe('starting')
  answer.resolve()
  await start
  expect(await hosted.status('slow')).toBe('running')
})

test('stop ends a start in progress', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('mute'))
  hosted.proxies.answers = () => new Promise(() => undefined)
  const start = hosted.host.start('mute')
  const failed = expect(start).rejects.toMatchObject({ code: 'start_cancelled' })
  await until(async () => expect(hosted.proxies.of('mute')?.connected).toBe(true))
  await hosted.host.stop('mute')
  await failed
  expect(await hosted.status('mute')).toBe('stopped')
  expect(await state(runtime, 'mute')).not.toBe('running')
})

test('stop takes the listener and the instance down and keeps the run config', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  await hosted.host.stop('web')
  expect(hosted.proxies.of('web')).toBeUndefined()
  expect(await state(runtime, 'web')).toBe('exited')
  expect(await hosted.store.statuses.read('web')).toMatchObject({ status: 'stopped', process_id: 0 })
  expect(await hosted.store.configs.find('web')).toBeDefined()
  await hosted.host.stop('web')
  await hosted.host.start('web')
  expect(await hosted.status('web')).toBe('running')
})

test('a stopped stdio server is not taken for a crashed one', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(stdio('chat'))
  await hosted.host.start('chat')
  await hosted.host.stop('chat')
  expect(hosted.waits).toEqual([])
  expect(hosted.proxies.made.at(-1)?.reasons).toEqual([])
})

test.each(['running', 'stopped', 'error', 'never started'])('remove works from "%s"', async from => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web', from === 'error' ? { image: 'exit-at-once' } : {}))
  if (from !== 'never started') await hosted.host.start('web').catch(() => undefined)
  if (from === 'stopped') await hosted.host.stop('web')
  await hosted.host.remove('web')
  await hosted.host.remove('web')
  expect(await runtime.list()).toEqual([])
  expect(await hosted.store.configs.find('web')).toBeUndefined()
  expect(await hosted.status('web')).toBeUndefined()
  expect(hosted.host.busy).toBe(false)
})

test('remove cleans up when the instance is already gone', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  hosted.flows = false
  await runtime.remove('web')
  await hosted.host.remove('web')
  expect(await hosted.store.configs.list()).toEqual([])
})

test('a failed stop keeps what was asked for, and the next host finishes it', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  runtime.goAway()
  await expect(hosted.host.stop('web')).rejects.toMatchObject({ code: 'runtime_unavailable' })
  expect(await hosted.status('web')).toBe('stopping')
  runtime.comeBack()
  await hosted.next().adopt()
  expect(await hosted.status('web')).toBe('stopped')
  expect(await state(runtime, 'web')).toBe('exited')
})

test('a crashed stdio server is brought back after one second', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(stdio('chat'))
  await hosted.host.start('chat')
  runtime.crash('chat', { code: 139, reason: 'out of memory' })
  await until(() => expect(hosted.proxies.of('chat')?.backends).toHaveLength(2))
  await untilStatus(hosted, 'chat', 'running')
  expect(hosted.proxies.of('chat')?.reasons).toEqual(['out of memory, exit code 139'])
  expect(hosted.waits).toEqual([1000])
})

test('a crashed HTTP server is brought back, at its new port', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  runtime.crash('web')
  await until(() => expect(hosted.proxies.of('web')?.backends).toHaveLength(2))
  await untilStatus(hosted, 'web', 'running')
  const port = (await runtime.inspect('web'))?.ports[0]?.hostPort
  expect(hosted.proxies.of('web')?.backends[1]).toMatchObject({ target: new URL(`http://127.0.0.1:${port}`) })
})

test('an instance that its runtime restarted is connected again without a wait', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  hosted.flows = false
  runtime.crash('web')
  await until(async () => expect(await hosted.status('web')).toBe('starting'))
  await runtime.start('web')
  await untilStatus(hosted, 'web', 'running')
  expect(hosted.proxies.of('web')?.backends).toHaveLength(2)
})

test('a removed instance is made anew', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  const { id } = (await runtime.inspect('web')) ?? {}
  await runtime.remove('web')
  await until(async () => expect(await state(runtime, 'web')).toBe('running'))
  expect((await runtime.inspect('web'))?.id).not.toBe(id)
})

test('a server that keeps crashing is given up after ten restarts with growing waits', async () => {
  let healthy = true
  const moody: FakeProgram = async ({ stdin, stderr, term, over, stdout }) => {
    if (healthy) return echo({ stdin, stderr, term, over, stdout } as Parameters<FakeProgram>[0])
    stderr.write('disk on fire\n')
    return 1
  }
  const runtime = createFakeRuntime({ programs: { moody } })
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(stdio('moody', { image: 'moody' }))
  await hosted.host.start('moody')
  const end = hosted.host.ended('moody')
  healthy = false
  const contexts = new Set<string | undefined>()
  const save = hosted.store.statuses.write
  hosted.store.statuses.write = (name, change) => {
    contexts.add(change.status_context)
    return save(name, change)
  }
  runtime.crash('moody')
  expect(await end).toMatchObject({
    status: 'error',
    status_context: expect.stringMatching(/10 restarts[\s\S]*disk on fire/),
    process_id: 0,
  })
  expect(contexts).toContain('restarting (exit code 139)')
  expect(contexts).toContain('restarting (4 times, exit code 1): disk on fire')
  expect(hosted.waits).toEqual([1000, 2000, 5000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000, 60_000])
  expect(hosted.proxies.of('moody')).toBeUndefined()
  await until(() => expect(hosted.host.busy).toBe(false))
})

test('thirty seconds of running make earlier crashes forgotten', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(stdio('chat'))
  await hosted.host.start('chat')
  for (const [age, crashes] of [0, 29_999, 30_000].entries()) {
    hosted.time += crashes
    runtime.crash('chat')
    await until(() => expect(hosted.proxies.of('chat')?.backends).toHaveLength(age + 2))
    await untilStatus(hosted, 'chat', 'running')
  }
  expect(hosted.waits).toEqual([1000, 2000, 1000])
})

test('stop ends the waiting for a restart', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(stdio('chat'))
  await hosted.host.start('chat')
  hosted.flows = false
  runtime.crash('chat')
  await untilStatus(hosted, 'chat', 'starting')
  await hosted.host.stop('chat')
  hosted.flows = true
  expect(await hosted.status('chat')).toBe('stopped')
  expect(hosted.proxies.made[0]?.backends).toHaveLength(1)
})

test('an engine that is away costs no attempts, and all its workloads come back with it', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  const names = ['chat', 'talk', 'web']
  for (const [index, name] of names.entries()) {
    const make = name === 'web' ? workload : stdio
    await hosted.store.configs.save(make(name, { port: 4000 + index }))
    await hosted.host.start(name)
  }
  runtime.goAway()
  for (const name of names) await untilStatus(hosted, name, 'unhealthy')
  await until(() => expect(hosted.waits.length).toBeGreaterThan(60))
  expect(await hosted.context('chat')).toContain('away')
  runtime.comeBack()
  for (const name of names) await untilStatus(hosted, name, 'running')
  expect(hosted.proxies.of('chat')?.connected).toBe(true)
  expect(hosted.proxies.of('web')?.connected).toBe(true)
})

test('the next host adopts: HTTP servers keep running, stdio servers begin anew', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.store.configs.save(stdio('chat', { port: 4001 }))
  await hosted.store.configs.save(stdio('off', { port: 4002 }))
  for (const name of ['web', 'chat', 'off']) await hosted.host.start(name)
  await hosted.host.stop('off')
  const before = await runtime.inspect('web')
  await hosted.host.close({ handover: true })
  expect(await hosted.status('web')).toBe('running')
  expect(hosted.proxies.of('web')).toBeUndefined()

  const next = hosted.next()
  await next.adopt()
  expect(next.size).toBe(2)
  expect(await runtime.inspect('web')).toEqual(before)
  expect(hosted.proxies.of('web')?.connected).toBe(true)
  expect(hosted.proxies.of('chat')?.connected).toBe(true)
  expect(await hosted.status('off')).toBe('stopped')
})

test('a host that cannot read the secrets takes over what runs, and makes nothing without them', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  hosted.secrets = { TOKEN: 'planted' }
  await hosted.store.configs.save(workload('web'))
  await hosted.store.configs.save(stdio('chat', { port: 4001 }))
  for (const name of ['web', 'chat']) await hosted.host.start(name)
  const before = await runtime.inspect('web')
  await hosted.host.close({ handover: true })

  hosted.secrets = new Error('the password of the secrets is needed')
  const next = hosted.next()
  await next.adopt()
  expect(await runtime.inspect('web')).toEqual(before)
  expect(await hosted.status('web')).toBe('running')
  expect(hosted.proxies.of('web')?.connected).toBe(true)
  await untilStatus(hosted, 'chat', 'error')
  expect(await hosted.context('chat')).toContain('the password of the secrets is needed')

  hosted.secrets = { TOKEN: 'planted' }
  await next.start('chat')
  expect(await hosted.status('chat')).toBe('running')
})

test('a start without its secrets makes no instance', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  hosted.secrets = new Error('there is no secret "x"')
  await hosted.store.configs.save(workload('web'))
  await expect(hosted.host.start('web')).rejects.toThrow('there is no secret "x"')
  expect(await runtime.inspect('web')).toBeUndefined()
  expect(await hosted.status('web')).toBe('error')
})

test('adoption waits for an engine that is not there yet', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  await hosted.host.close({ handover: true })
  runtime.goAway()
  await hosted.next().adopt()
  await untilStatus(hosted, 'web', 'unhealthy')
  runtime.comeBack()
  await untilStatus(hosted, 'web', 'running')
})

test.each([
  ['starting', 'running'],
  ['unhealthy', 'running'],
  ['auth_retrying', 'running'],
  ['stopping', 'stopped'],
  ['removing', undefined],
  ['error', 'error'],
  ['stopped', 'stopped'],
] as const)('of a host killed while "%s", the next makes "%s"', async (before, after) => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.store.statuses.write('web', { status: before, process_id: 999_999 })
  const next = hosted.next()
  await next.adopt()
  expect(await hosted.status('web')).toBe(after)
  expect(await hosted.store.configs.find('web')).toEqual(after ? expect.anything() : undefined)
  expect(await state(runtime, 'web')).toBe(after === 'running' ? 'running' : undefined)
})

test('a host that follows a killed one makes the instance anew where the run config was saved since', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  const [kept, edited] = [workload('kept'), workload('edited', { port: 4001 })]
  for (const config of [kept, edited]) {
    await hosted.store.configs.save(config)
    await hosted.host.start(config.name)
  }
  const before = await runtime.inspect('kept')
  await hosted.store.configs.save({ ...edited, env_vars: { LEVEL: 'new' } })
  await hosted.host.close({ handover: true }) // like a kill, this leaves status and instance
  await hosted.next().adopt()
  expect(runtime.specs.get('edited')?.env).toMatchObject({ LEVEL: 'new' })
  expect((await runtime.inspect('kept'))?.id).toBe(before?.id)
})

test('a restart says from its first moment that the workload starts, so that a kill does not end it', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  const seen = new Set<string>()
  const { write } = hosted.store.statuses
  hosted.store.statuses.write = async (name, change) => {
    seen.add(change.status)
    await write(name, change)
  }
  await hosted.host.restart('web')
  expect([...seen]).toEqual(['starting', 'running'])
})

test('a restart waits until the run config is saved', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  const config = workload('web')
  await hosted.store.configs.save(config)
  await hosted.host.start('web')
  let restarted: Promise<void> | undefined
  await hosted.store.configs.saveOver(config, async () => {
    restarted = hosted.host.restart('web')
    await Promise.race([restarted, delay(200)]) // a restart that does not wait is over by then
    return { ...config, env_vars: { LEVEL: 'new' } }
  })
  await restarted
  expect(runtime.specs.get('web')?.env).toMatchObject({ LEVEL: 'new' })
})

test('a removal that was killed after the run config was gone is finished', async () => {
  const hosted = await hosting(engine())
  await hosted.store.statuses.write('web', { status: 'removing', process_id: 1 })
  await hosted.host.adopt()
  expect(await hosted.status('web')).toBeUndefined()
})

test('one workload that cannot be adopted does not stop the others', async () => {
  const hosted = await hosting(engine())
  await hosted.store.statuses.write('lost', { status: 'running', process_id: 1 })
  await hosted.store.configs.save(workload('web'))
  await hosted.store.statuses.write('web', { status: 'running', process_id: 1 })
  await hosted.host.adopt()
  expect(await hosted.status('web')).toBe('running')
  expect(await hosted.status('lost')).toBe('error')
})

test('a handover in the middle of a start leaves it to the next host', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('mute'))
  hosted.proxies.answers = () => new Promise(() => undefined)
  const failed = expect(hosted.host.start('mute')).rejects.toMatchObject({ code: 'supervisor_leaving' })
  await until(async () => expect(hosted.proxies.of('mute')?.connected).toBe(true))
  await hosted.host.close({ handover: true })
  await failed
  expect(await hosted.status('mute')).toBe('starting')
  hosted.proxies.answers = async () => undefined
  await hosted.next().adopt()
  expect(await hosted.status('mute')).toBe('running')
})

test('after its end a host takes no work', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(workload('web'))
  await hosted.host.close({ handover: true })
  await expect(hosted.host.start('web')).rejects.toMatchObject({ code: 'supervisor_leaving' })
})

test('two hosts never host the same workload', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  const other = hosted.next()
  await expect(other.start('web')).rejects.toMatchObject({ code: 'hosted_elsewhere', status: 409 })
  expect(await hosted.status('web')).toBe('running')
})

test('a workload in the hands of another process is not adopted; stop asks that process to end', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(workload('web'))
  await hosted.store.statuses.write('web', { status: 'running', process_id: 1 })
  const foreground = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const end = once(foreground, 'exit')
  await once(foreground, 'spawn')
  await writeFileAtomic(
    join(hosted.paths.runtime, 'leases', 'web'),
    processIdentity(foreground.pid ?? 0) ?? '',
  )
  await hosted.host.adopt()
  expect(hosted.host.size).toBe(0)
  await expect(hosted.host.start('web')).rejects.toMatchObject({
    code: 'hosted_elsewhere',
    details: { name: 'web', pid: foreground.pid },
  })
  await hosted.host.stop('web')
  expect(await end).toEqual([null, 'SIGTERM'])
  expect(await hosted.status('web')).toBe('stopped')
})

test('closing without a handover stops everything', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  await hosted.host.close({ handover: false })
  expect(await hosted.status('web')).toBe('stopped')
  expect(await state(runtime, 'web')).toBe('exited')
})

test('rm of a workload whose run config is damaged removes its instance, and no other', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  for (const name of ['web', 'other']) {
    await hosted.store.configs.save(workload(name, { port: name === 'web' ? 4000 : 4001 }))
    await hosted.host.start(name)
  }
  await hosted.host.close({ handover: true })
  await writeFileAtomic(join(hosted.paths.state, 'runconfigs/web.json'), '{ damaged')
  expect(await state(runtime, 'web')).toBe('running')

  await hosted.next().remove('web')

  expect(await state(runtime, 'web')).toBeUndefined()
  expect(await hosted.status('web')).toBeUndefined()
  expect(await state(runtime, 'other')).toBe('running')
})
