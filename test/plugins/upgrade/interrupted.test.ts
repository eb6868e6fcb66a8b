import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { clientV1, textOf } from '../../e2e/clients.ts'
import { until } from '../../e2e/home.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { needs } from '../../support/left-out.ts'
import { openWorld, type World } from './world.ts'

// Whatever is killed at whatever moment: after the next command one version serves, and nothing of the other is left.

const problem = engineProblem('docker', 'keelson-test/node:24')
const QUIET = ['--image-verification', 'disabled']
let world: World
let name: string
let url: string
let count = 0

beforeAll(async () => {
  if (problem) return
  world = await openWorld()
  await world.push('1.0.0')
  await world.push('2.0.0')
  await world.push('2.1.0', 'mute')
}, 180_000)
afterAll(() => world?.close(), 180_000)
beforeEach(async context => {
  needs(context, problem)
  name = `killed-${process.pid}-${++count}`
  await world.offer('1.0.0')
  const flags = ['--runtime', 'docker', '--isolate-network', ...QUIET]
  url = await world.home.ok(['run', 'clock', '--name', name, ...flags])
}, 120_000)
afterEach(async () => {
  if (!problem) await world.home.ok(['rm', name, '--ignore-missing'])
}, 120_000)

/** Begins an upgrade in a process of its own. */
function begin(...more: string[]) {
  const cli = world.home.start(['upgrade', 'apply', name, ...QUIET, ...more])
  let said = ''
  const fetches = Promise.withResolvers<void>()
  cli.stderr?.on('data', chunk => {
    said += chunk
    if (said.includes('Pulling')) fetches.resolve()
  })
  const ended = once(cli, 'exit').then(([code]) => ({ code: code as number | null, said }))
  return { cli, ended, fetches: fetches.promise }
}

const killSupervisor = async () => process.kill(await world.home.supervisor(), 'SIGKILL')
const record = () => world.exists(`.local/state/keelson/upgrades/${name}.json`)
const untilBeside = () => until(async () => expect(await world.containers(name)).toHaveLength(2), 150)
const untilNamed = (tag: string) =>
  until(async () => expect((await world.config(name)).source).toBe(`${world.repository}:${tag}`), 150)

/** The supervisor has begun the upgrade to this version: the record alone is there before that. */
const untilTaken = (tag: string) =>
  until(async () => {
    const isBeside = (await world.containers(name)).length === 2
    const isNamed = (await world.config(name)).source === `${world.repository}:${tag}`
    expect(isBeside || isNamed).toBe(true)
  }, 150)

/** After the next command: this version answers, as the only one there is. */
async function expectOnly(tag: string): Promise<void> {
  await world.home.ok(['list'])
  await until(async () => {
    const client = await clientV1(url)
    expect(textOf(await client.callTool({ name: 'version' }))).toBe(tag)
    expect(await world.containers(name)).toHaveLength(1)
    expect(await world.networks(name)).toHaveLength(1)
    expect(record()).toBe(false)
  }, 150)
  const [container] = await world.containers(name)
  expect(await world.config(name)).toMatchObject({
    source: `${world.repository}:${tag}`,
    container_name: container,
  })
}

describe('killed with SIGKILL, the supervisor', { timeout: 480_000 }, () => {
  test('before the newer version is there leaves the old one', async () => {
    await world.offer('2.1.0')
    const { ended } = begin()
    await until(() => expect(record()).toBe(true), 150)
    await killSupervisor()
    const { code, said } = await ended
    expect(code).toBe(1)
    expect(said).toContain(`${world.repository}:1.0.0 serves as before`)
    await expectOnly('1.0.0')
  })

  test('while the newer version is asked leaves the old one', async () => {
    await world.offer('2.1.0')
    const { ended } = begin()
    await untilBeside()
    await killSupervisor()
    expect((await ended).code).toBe(1)
    await expectOnly('1.0.0')
  })

  test('while the old version finishes what it was asked leaves the newer one', async () => {
    await world.offer('2.0.0')
    const client = await clientV1(url)
    const slow = client.callTool({ name: 'version', arguments: { hold: true } })
    slow.catch(() => undefined) // it dies with the proxy
    const { ended } = begin()
    await untilNamed('2.0.0')
    await killSupervisor()
    expect(await ended).toMatchObject({ code: 0 })
    await expectOnly('2.0.0')
  })
})

describe('killed with SIGKILL, the command', { timeout: 480_000 }, () => {
  test('while it fetches leaves the old version', async () => {
    await world.push('2.2.0')
    await world.offer('2.2.0')
    const { cli, ended, fetches } = begin()
    await fetches
    cli.kill('SIGKILL')
    await ended
    await expectOnly('1.0.0')
  })

  test('while the newer version is tried leaves what comes of that', async () => {
    await world.offer('2.1.0')
    const unfit = begin('--timeout', '5s')
    await untilBeside()
    unfit.cli.kill('SIGKILL')
    await unfit.ended
    await expectOnly('1.0.0')

    await world.offer('2.0.0')
    const fit = begin()
    await untilTaken('2.0.0')
    fit.cli.kill('SIGKILL')
    await fit.ended
    await until(() => expect(record()).toBe(false))
    expect(await world.containers(name)).toHaveLength(1)
    const again = await world.home.keelson(['upgrade', 'apply', name, ...QUIET])
    expect(again.code).toBe(0)
    await expectOnly('2.0.0')
  })
})

describe('while an upgrade is under way', { timeout: 480_000 }, () => {
  test('a second one is refused, a stop breaks it off, and a removal leaves nothing', async () => {
    await world.offer('2.1.0')
    const first = begin()
    await untilBeside()
    const second = await world.home.keelson(['upgrade', 'apply', name, ...QUIET])
    expect(second).toMatchObject({ code: 1, stdout: '' })
    expect(second.stderr).toContain(`"${name}" is being upgraded already.`)

    await world.home.ok(['stop', name])
    const { code, said } = await first.ended
    expect(code).toBe(1)
    expect(said).toContain('was cancelled')
    expect(await world.home.ok(['status', name])).toMatch(/^Status: +stopped$/m)
    expect((await world.config(name)).source).toBe(`${world.repository}:1.0.0`)
    await world.home.ok(['start', name])
    await expectOnly('1.0.0')

    const third = begin()
    await untilBeside()
    await world.home.ok(['rm', name, '--ignore-missing'])
    expect((await third.ended).code).toBe(1)
    expect(await world.containers(name)).toEqual([])
    expect(await world.networks(name)).toEqual([])
    expect(record()).toBe(false)
  })
})
