import { expect, test } from 'vitest'
import { createRuntimes } from '../../../plugins/runtimes/service.ts'
import type { Probe, Runtime } from '../../../src/contracts/runtime.ts'
import { createLog } from '../../../src/log.ts'
import { createFakeRuntime } from '../../support/fake-runtime.ts'

const works = (...warnings: string[]): Probe => ({ ok: true, version: '1', warnings })
const broken = (problem: string): Probe => ({ ok: false, problem, hint: `mend ${problem}` })

function setUp(
  probes: Record<string, Probe | ((signal?: AbortSignal) => Promise<Probe>)>,
  env: Record<string, string> = {},
) {
  const lines: string[] = []
  const asked: string[] = []
  const log = createLog({ write: line => lines.push(line), human: true, debug: false })
  const made: Runtime[] = Object.entries(probes).map(([name, probe]) => ({
    ...createFakeRuntime({ name, programs: {} }),
    ...(RANKS[name] === undefined ? {} : { rank: RANKS[name] }),
    probe: async signal => {
      asked.push(name)
      return typeof probe === 'function' ? probe(signal) : probe
    },
  }))
  const factories = made.map(runtime => () => runtime)
  return {
    lines,
    asked,
    factories,
    log,
    runtimes: createRuntimes({ contributed: async () => factories, env, log }),
  }
}

const RANKS: Readonly<Record<string, number>> = { docker: 100, podman: 200, process: 1000 }

const hangs = () => new Promise<Probe>(() => undefined)

test.each([
  [['process', 'third', 'podman', 'docker'], 'docker'],
  [['process', 'third', 'podman'], 'podman'],
  [['process', 'third'], 'third'],
  [['process'], 'process'],
])('of %j the choice is %s', async (names, chosen) => {
  const { runtimes } = setUp(Object.fromEntries(names.map(name => [name, works()])))
  expect((await runtimes.select()).runtime.name).toBe(chosen)
})

test('all are listed in the order of preference', async () => {
  const { runtimes } = setUp({ process: works(), other: works(), podman: works(), docker: works() })
  expect((await runtimes.all()).map(({ name }) => name)).toEqual(['docker', 'podman', 'other', 'process'])
})

test('one that does not work is passed over', async () => {
  const { runtimes } = setUp({ docker: broken('not running'), podman: works('no limits'), process: works() })
  expect(await runtimes.select()).toMatchObject({
    runtime: { name: 'podman' },
    warnings: ['podman is used, because docker cannot be used: not running', 'no limits'],
  })
})

test('one that is not installed is passed over without a word', async () => {
  const absent = { ok: false, problem: 'there is no docker', hint: 'Install it.', absent: true } as const
  const { runtimes } = setUp({ docker: absent, podman: works() })
  expect(await runtimes.select()).toMatchObject({ runtime: { name: 'podman' }, warnings: [] })
})

test('one without a sandbox is not chosen, not even by name, and the hint names --no-sandbox', async () => {
  const { runtimes, factories } = setUp({ docker: broken('not running'), process: works() })
  const runtime = factories[1]?.() as Runtime
  const sandbox = async () => ({ ok: false, problem: 'no sandbox.', hint: 'Install one.' }) as const
  Object.assign(runtime, { sandbox, packages: { install: () => Promise.reject(new Error('not here')) } })
  for (const name of [undefined, 'process']) {
    await expect(runtimes.select(name)).rejects.toMatchObject({
      message: expect.stringContaining('no sandbox.'),
      hint: expect.stringMatching(/Install one\. .*--no-sandbox/),
    })
  }
  expect(await runtimes.probeAll({ name: 'process' })).toMatchObject([{ probe: { ok: false } }])
  expect((await runtimes.select(undefined, { noSandbox: true })).runtime).toBe(runtime)
  await expect(runtimes.select('docker', { noSandbox: true })).rejects.toMatchObject({
    code: 'sandbox_wanted',
  })
})

test('without a sandbox the first runtime of packages is chosen, whatever it is called', async () => {
  const { runtimes, factories } = setUp({ docker: works(), other: works() })
  const other = factories[1]?.() as Runtime
  await expect(runtimes.select(undefined, { noSandbox: true })).rejects.toMatchObject({ code: 'no_runtime' })
  Object.assign(other, { packages: { install: () => Promise.reject(new Error('not here')) } })
  expect((await runtimes.select(undefined, { noSandbox: true })).runtime).toBe(other)
})

test('falling back to processes says why no engine is used', async () => {
  const { runtimes } = setUp({ docker: broken('not running'), process: works('no sandbox') })
  expect((await runtimes.select()).warnings).toEqual(['docker: not running', 'no sandbox'])
})

test('the first that responds is taken without waiting for those behind it', async () => {
  const { runtimes } = setUp({ docker: works(), podman: hangs })
  expect((await runtimes.select()).runtime.name).toBe('docker')
})

test('probes still running when the choice is made are aborted', async () => {
  const told = Promise.withResolvers<void>()
  const slow = (signal?: AbortSignal) => {
    signal?.addEventListener('abort', () => told.resolve())
    return hangs()
  }
  const { runtimes } = setUp({ docker: works(), podman: slow })
  await runtimes.select()
  await told.promise
})

test('when none works, the failure says what is wrong with each', async () => {
  const { runtimes } = setUp({ docker: broken('not running'), podman: broken('not installed') })
  await expect(runtimes.select()).rejects.toMatchObject({
    code: 'no_runtime',
    message: expect.stringMatching(/docker: not running\n.*podman: not installed/),
    hint: expect.stringContaining('runtime check'),
  })
})

test('without any plugin for it there is no runtime', async () => {
  await expect(setUp({}).runtimes.select()).rejects.toMatchObject({ code: 'no_runtime' })
})

test('the one that is named wins, and no other is asked', async () => {
  const { runtimes, asked } = setUp({ docker: works(), podman: works() }, { KEELSON_RUNTIME: 'docker' })
  expect((await runtimes.select('podman')).runtime.name).toBe('podman')
  expect(asked).toEqual(['podman'])
})

test('KEELSON_RUNTIME names one; empty, it does not', async () => {
  const probes = { docker: works(), podman: works() }
  const choose = async (value: string) => {
    const { runtimes } = setUp(probes, { KEELSON_RUNTIME: value })
    return (await runtimes.select()).runtime.name
  }
  expect(await choose('podman')).toBe('podman')
  expect(await choose('')).toBe('docker')
})

test('an unknown name fails with the names there are', async () => {
  const { runtimes } = setUp({ docker: works(), process: works() })
  const failure = { code: 'runtime_unknown', hint: 'There are: docker, process.' }
  await expect(runtimes.select('dokcer')).rejects.toMatchObject(failure)
  await expect(runtimes.get('dokcer')).rejects.toMatchObject(failure)
  await expect(runtimes.probeAll({ name: 'dokcer' })).rejects.toMatchObject(failure)
})

test('an unknown name from the environment says where it came from', async () => {
  const { runtimes } = setUp({ docker: works() }, { KEELSON_RUNTIME: 'nope' })
  await expect(runtimes.select()).rejects.toMatchObject({
    message: expect.stringContaining('KEELSON_RUNTIME'),
  })
})

test('a named one that does not work fails, even if another would', async () => {
  const { runtimes } = setUp({ docker: broken('not running'), podman: works() })
  await expect(runtimes.select('docker')).rejects.toMatchObject({
    code: 'runtime_unavailable',
    message: expect.stringContaining('not running'),
    hint: 'mend not running',
  })
})

test('get asks nobody', async () => {
  const { runtimes, asked } = setUp({ docker: broken('not running') })
  expect((await runtimes.get('docker')).name).toBe('docker')
  expect(asked).toEqual([])
})

test('one that hangs is given up after the limit, together with the others', async () => {
  const { runtimes } = setUp({ docker: hangs, podman: hangs, process: works() })
  const probed = await runtimes.probeAll({ timeoutMs: 100 })
  expect(probed.map(({ probe }) => probe.ok)).toEqual([false, false, true])
  expect(probed[0]?.probe).toMatchObject({ problem: 'it did not respond within 0.1 s.' })
})

test('one whose probe throws is not usable, and the others are', async () => {
  const { runtimes } = setUp({ third: () => Promise.reject(new Error('boom')), process: works() })
  expect((await runtimes.select()).runtime.name).toBe('process')
  expect((await runtimes.probeAll({ name: 'third' }))[0]?.probe).toMatchObject({ ok: false, problem: 'boom' })
})

test('one that cannot be made is left out with a warning', async () => {
  const { factories, log, lines } = setUp({ docker: works() })
  const contributed = async () => [() => Promise.reject(new Error('no such module')), ...factories]
  const runtimes = createRuntimes({ contributed, env: {}, log })
  expect((await runtimes.all()).map(({ name }) => name)).toEqual(['docker'])
  expect(lines.join('')).toContain('no such module')
})

test('of two with one name the first is used, with a warning', async () => {
  const { factories, log, lines } = setUp({ docker: works() })
  const impostor = { ...createFakeRuntime({ name: 'docker', programs: {} }) }
  const runtimes = createRuntimes({ contributed: async () => [...factories, () => impostor], env: {}, log })
  expect(await runtimes.get('docker')).not.toBe(impostor)
  expect(lines.join('')).toContain('Two plugins provide a runtime "docker"')
})
