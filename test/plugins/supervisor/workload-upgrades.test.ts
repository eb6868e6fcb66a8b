import { expect, test, vi } from 'vitest'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import { aborted, createFakeRuntime, echo, type FakeProgram } from '../../support/fake-runtime.ts'
import { type Hosting, hosting, stdio, workload } from './hosting.ts'

/** Serves until it is asked to end. */
const serve: FakeProgram = async ({ term, over }) => {
  await Promise.race([aborted(term), aborted(over)])
  return 0
}
const exits: FakeProgram = async ({ stderr }) => {
  stderr.write('cannot open database\n')
  return 3
}
const engine = () => createFakeRuntime({ programs: { serve, newer: serve, echo, exits } })
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 5 })
const names = async (runtime: ReturnType<typeof engine>) => (await runtime.list()).map(({ name }) => name)

const newer = (from: RunConfig, more: Partial<RunConfig> = {}): RunConfig => ({
  ...from,
  image: 'newer',
  source: 'example/newer:2',
  container_name: `${from.name}-next`,
  ...more,
})

/** A workload that serves, and an upgrade of it that has been written down. */
async function ready(hosted: Hosting, from = workload('web'), to = newer(from)): Promise<void> {
  await hosted.store.configs.save(from)
  await hosted.host.start(from.name)
  await hosted.store.upgrades.save(from.name, { from, to, wait_ms: 60_000 })
}

/** The newer server does not answer until this is called. */
function holdBack(hosted: Hosting): () => void {
  const answers = Promise.withResolvers<void>()
  hosted.proxies.answers = name => (name === 'next web' ? answers.promise : Promise.resolve())
  return answers.resolve
}

async function expectAsBefore(hosted: Hosting, runtime: ReturnType<typeof engine>, from = workload('web')) {
  expect(await names(runtime)).toEqual([from.name])
  expect(await hosted.store.configs.get(from.name)).toEqual(from)
  expect(await hosted.store.upgrades.find(from.name)).toBeUndefined()
  expect(await hosted.status(from.name)).toBe('running')
  expect((await runtime.inspect(from.name))?.state).toBe('running')
  expect(hosted.proxies.of(from.name)?.backends).toHaveLength(1)
}

test.each([
  ['HTTP', workload('web'), 'newer'],
  ['stdio', stdio('web'), 'echo'],
])('a newer %s server takes the place of the one that serves, which goes', async (_, from, image) => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  const to = newer(from, { image })
  await ready(hosted, from, to)
  const proxy = hosted.proxies.of('web')

  await hosted.host.upgrade('web')

  expect(hosted.proxies.of('web')).toBe(proxy)
  expect(proxy?.backends).toHaveLength(2)
  expect(await names(runtime)).toEqual(['web-next'])
  expect(runtime.specs.get('web-next')).toMatchObject({ image, labels: { [LABEL.name]: 'web' } })
  expect(await hosted.store.configs.get('web')).toEqual(to)
  expect(await hosted.store.upgrades.find('web')).toBeUndefined()
  expect(await hosted.store.statuses.read('web')).toMatchObject({
    status: 'running',
    last_upgrade: { outcome: 'upgraded', from: from.image, to: 'example/newer:2' },
  })
})

test('both run until the newer one has responded and the old one has finished', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted)
  const answer = holdBack(hosted)
  const drains = Promise.withResolvers<void>()
  hosted.proxies.drains = drains.promise

  const upgrade = hosted.host.upgrade('web')
  await until(async () => expect(await names(runtime)).toEqual(['web', 'web-next']))
  expect((await hosted.store.configs.get('web')).image).toBe('serve')
  answer()
  await until(async () => expect((await hosted.store.configs.get('web')).image).toBe('newer'))
  expect(await names(runtime)).toEqual(['web', 'web-next'])
  drains.resolve()
  await upgrade
  expect(await names(runtime)).toEqual(['web-next'])
})

test('what has taken the place is brought back after a crash, and is what restarts bring up', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted)
  await hosted.host.upgrade('web')
  runtime.crash('web-next')
  await until(() => expect(hosted.proxies.of('web')?.backends).toHaveLength(3))
  await hosted.host.stop('web')
  await hosted.host.start('web')
  expect(await names(runtime)).toEqual(['web-next'])
})

test('a crash of the old one while it finishes changes nothing', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted)
  const drains = Promise.withResolvers<void>()
  hosted.proxies.drains = drains.promise
  const upgrade = hosted.host.upgrade('web')
  await until(() => expect(hosted.proxies.of('web')?.backends).toHaveLength(2))
  runtime.crash('web')
  drains.resolve()
  await upgrade
  expect(hosted.proxies.of('web')).toMatchObject({ connected: true, reasons: [] })
  expect(await names(runtime)).toEqual(['web-next'])
})

test('a newer one that ends at once leaves the old one, with its last lines', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted, workload('web'), newer(workload('web'), { image: 'exits' }))
  holdBack(hosted)
  await expect(hosted.host.upgrade('web')).rejects.toMatchObject({
    code: 'instance_ended',
    message: expect.stringMatching(/exit code 3[\s\S]*cannot open database/),
  })
  await expectAsBefore(hosted, runtime)
  expect((await hosted.store.statuses.read('web'))?.last_upgrade).toMatchObject({
    outcome: 'rolled-back',
    to: 'example/newer:2',
    reason: expect.stringContaining('exit code 3'),
  })
})

test.each([
  ['cannot be made', { image: 'not-here' }],
  ['wants what its runtime refuses', { env_vars: { 'A=B': 'x' } }],
])('a newer one that %s leaves the old one', async (_, more) => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted, workload('web'), newer(workload('web'), more))
  await expect(hosted.host.upgrade('web')).rejects.toThrow()
  await expectAsBefore(hosted, runtime)
})

test.each([
  ['HTTP', workload('web'), 'newer'],
  ['stdio', stdio('web'), 'echo'],
])('a newer %s one that ends while it waits for its turn leaves the old one', async (_, from, image) => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted, from, newer(from, { image }))
  const answer = holdBack(hosted)
  const upgrade = hosted.host.upgrade('web')
  upgrade.catch(() => undefined)
  await until(async () => expect((await runtime.inspect('web-next'))?.state).toBe('running'))
  answer()
  runtime.crash('web-next')
  await expect(upgrade).rejects.toMatchObject({ code: 'instance_ended' })
  await expectAsBefore(hosted, runtime, from)
})

test('a candidate that fails the check leaves the old server', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted)
  hosted.proxies.answers = name =>
    name === 'next web' ? Promise.reject(new Error('it has no tools')) : Promise.resolve()
  await expect(hosted.host.upgrade('web')).rejects.toThrow('it has no tools')
  await expectAsBefore(hosted, runtime)
})

test('a run config that was edited meanwhile is not overwritten', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted)
  const answer = holdBack(hosted)
  const upgrade = hosted.host.upgrade('web')
  upgrade.catch(() => undefined)
  const edited = workload('web', { env_vars: { EDITED: 'yes' } })
  await hosted.store.configs.save(edited)
  answer()
  await expect(upgrade).rejects.toMatchObject({ code: 'workload_changed', status: 409 })
  await expectAsBefore(hosted, runtime, edited)
  expect(hosted.proxies.of('web')?.discarded).toBe(1)
})

test('a second upgrade of the same workload is refused while one is under way', async () => {
  const hosted = await hosting(engine())
  await ready(hosted)
  const answer = holdBack(hosted)
  const first = hosted.host.upgrade('web')
  await expect(hosted.host.upgrade('web')).rejects.toMatchObject({ code: 'upgrade_runs' })
  const settled = hosted.host.settleUpgrade('web')
  answer()
  await Promise.all([first, settled])
})

test('an upgrade that nobody wrote down is lost', async () => {
  const hosted = await hosting(engine())
  await hosted.store.configs.save(workload('web'))
  await hosted.host.start('web')
  await expect(hosted.host.upgrade('web')).rejects.toMatchObject({ code: 'upgrade_lost' })
  expect(await hosted.status('web')).toBe('running')
})

test.each(['stop', 'remove'] as const)('a %s breaks an upgrade off and has the last word', async verb => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted)
  holdBack(hosted)
  const upgrade = hosted.host.upgrade('web')
  upgrade.catch(() => undefined)
  await until(async () => expect(await names(runtime)).toEqual(['web', 'web-next']))
  await hosted.host[verb]('web')
  await expect(upgrade).rejects.toMatchObject({ code: 'upgrade_lost' })
  expect(await names(runtime)).toEqual(verb === 'stop' ? ['web'] : [])
  expect(await hosted.status('web')).toBe(verb === 'stop' ? 'stopped' : undefined)
  expect(await hosted.store.upgrades.find('web')).toBeUndefined()
  expect(hosted.host.busy).toBe(false)
})

test('a host that hands over leaves the old one running and nothing of the newer one', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted)
  holdBack(hosted)
  const upgrade = hosted.host.upgrade('web')
  upgrade.catch(() => undefined)
  await until(async () => expect(await names(runtime)).toEqual(['web', 'web-next']))
  await hosted.host.close({ handover: true })
  await expect(upgrade).rejects.toMatchObject({ code: 'upgrade_lost' })
  expect(await names(runtime)).toEqual(['web'])
  expect(await hosted.status('web')).toBe('running')
})

test('an old one that crashes while the newer one is asked comes back without waiting for it', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted)
  const answer = holdBack(hosted)
  const upgrade = hosted.host.upgrade('web')
  await until(async () => expect(await names(runtime)).toEqual(['web', 'web-next']))
  runtime.crash('web')
  await until(() => expect(hosted.proxies.of('web')?.backends).toHaveLength(2))
  answer()
  await upgrade
  expect(await names(runtime)).toEqual(['web-next'])
})

test('a workload that does not run is tried out and stays down', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted)
  await hosted.host.stop('web')
  await hosted.host.upgrade('web')
  expect(await names(runtime)).toEqual([])
  expect(await hosted.store.configs.get('web')).toEqual(newer(workload('web')))
  expect(await hosted.status('web')).toBe('stopped')
  expect(hosted.proxies.of('web')).toBeUndefined()
  await hosted.host.start('web')
  expect(await names(runtime)).toEqual(['web-next'])
})

test('a stopped workload whose candidate fails the check stays as it was', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted, workload('web'), newer(workload('web'), { image: 'exits' }))
  await hosted.host.stop('web')
  holdBack(hosted)
  await expect(hosted.host.upgrade('web')).rejects.toMatchObject({ code: 'instance_ended' })
  expect(await names(runtime)).toEqual(['web'])
  expect(await hosted.store.configs.get('web')).toEqual(workload('web'))
  expect(await hosted.status('web')).toBe('stopped')
  expect(hosted.proxies.of('web')).toBeUndefined()
})

test('a workload that another process hosts is left alone', async () => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  const other = hosted.next()
  await hosted.store.configs.save(workload('web'))
  await other.start('web')
  const from = workload('web')
  await hosted.store.upgrades.save('web', { from, to: newer(from), wait_ms: 60_000 })
  await expect(hosted.host.upgrade('web')).rejects.toMatchObject({ code: 'hosted_elsewhere' })
  await expectAsBefore(hosted, runtime)
})

test.each([
  ['before the newer one was chosen', 'web'],
  ['after the newer one was chosen', 'web-next'],
])('killed %s, the next host keeps the one that the run config names', async (_, kept) => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  const [from, to] = [workload('web'), newer(workload('web'))]
  const spec = async (name: string) => {
    await runtime.create({ ...(runtime.specs.get('web') ?? expect.fail()), name })
    await runtime.start(name)
  }
  await ready(hosted, from, to)
  await hosted.host.close({ handover: true })
  await spec('web-next')
  if (kept === 'web-next') await hosted.store.configs.save(to)
  expect(await names(runtime)).toEqual(['web', 'web-next'])

  await hosted.next().adopt()

  expect(await names(runtime)).toEqual([kept])
  expect(await hosted.status('web')).toBe('running')
  expect(await hosted.store.upgrades.find('web')).toBeUndefined()
})

test.each([
  ['later, by the same host', true],
  ['by the next host', false],
])('what cannot be removed now is removed %s', async (_, lasts) => {
  const runtime = engine()
  const hosted = await hosting(runtime)
  await ready(hosted)
  const { remove } = runtime
  const broken = vi.spyOn(runtime, 'remove')
  broken.mockImplementation(async name => {
    if (name === 'web') throw new Error('the engine is busy')
    return remove(name)
  })
  hosted.flows = false
  await hosted.host.upgrade('web')
  expect(await names(runtime)).toEqual(['web', 'web-next'])
  expect(hosted.lines.join('')).toContain('the engine is busy')
  broken.mockRestore()
  if (!lasts) {
    await hosted.host.close({ handover: true })
    await hosted.next().adopt()
  } else expect(hosted.waits).toEqual([30_000])
  hosted.pass()
  await until(async () => expect(await hosted.store.upgrades.find('web')).toBeUndefined())
  expect(await names(runtime)).toEqual(['web-next'])
})
