import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { clientV1, textOf } from '../../e2e/clients.ts'
import { until } from '../../e2e/home.ts'
import { startApi } from '../../support/api-server.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { freePort } from '../../support/free-port.ts'
import { needs } from '../../support/left-out.ts'
import { docker, openWorld, type World } from './world.ts'

// The real program, a real registry, a real engine, and a server of which there are several versions.

const problem = engineProblem('docker', 'keelson-test/node:24')
let world: World
let name: string
let count = 0

beforeAll(async () => {
  if (problem) return
  world = await openWorld()
  for (const tag of ['1.0.0', '2.0.0']) await world.push(tag)
}, 180_000)
afterAll(() => world?.close(), 180_000)
beforeEach(context => {
  needs(context, problem)
  name = `upgraded-${process.pid}-${++count}`
})
afterEach(async () => {
  if (!problem) await world.home.ok(['rm', name])
})

/** Runs version 1.0.0; answers its URL. */
async function runFirst(...more: string[]): Promise<string> {
  await world.offer('1.0.0')
  return world.home.ok(['run', 'clock', '--name', name, '--runtime', 'docker', ...QUIET, ...more])
}
const QUIET = ['--image-verification', 'disabled']
const apply = (...more: string[]) => world.home.keelson(['upgrade', 'apply', name, ...QUIET, ...more])
const version = async (url: string) => {
  const client = await clientV1(url)
  return textOf(await client.callTool({ name: 'version' }))
}

describe('an upgrade', { timeout: 300_000 }, () => {
  test('puts the newer version behind the same URL, and nothing of the old one stays', async () => {
    const url = await runFirst('--isolate-network')
    const [before] = await world.containers(name)
    await world.offer('2.0.0')

    const shown = await apply()

    expect(shown).toMatchObject({ code: 0, stdout: `${name} is upgraded to ${world.repository}:2.0.0.` })
    expect(await version(url)).toBe('2.0.0')
    const containers = await world.containers(name)
    expect(containers).toHaveLength(1)
    expect(containers).not.toContain(before)
    expect(await world.networks(name)).toHaveLength(1)
    expect(await world.config(name)).toMatchObject({
      source: `${world.repository}:2.0.0`,
      container_name: containers[0],
    })
    expect(await world.home.ok(['status', name])).toContain(`:2.0.0`)

    expect((await apply()).stdout).toBe(`${name} is up to date: ${world.repository}:2.0.0.`)
    expect(await world.containers(name)).toEqual(containers)
    await world.home.ok(['restart', name])
    await world.home.ok(['stop', name])
    await world.home.ok(['start', name])
    expect(await version(url)).toBe('2.0.0')
  })

  test.each([
    ['that is fit', '2.0.0', 0, ['1.0.0', '2.0.0']],
    ['that is not', '2.5.0', 1, ['1.0.0']],
  ])(
    'to a version %s loses no call of sessions that call a hundred times a second',
    async (_, tag, code, versions) => {
      const url = await runFirst()
      if (tag === '2.5.0') await world.push(tag, 'no-tools')
      await world.offer(tag)
      const clients = await Promise.all(Array.from({ length: 5 }, () => clientV1(url)))
      const seen: string[] = []
      const failed: unknown[] = []
      const calls: Promise<void>[] = []
      const timer = setInterval(() => {
        const client = clients[calls.length % clients.length] ?? expect.fail()
        const ms = calls.length % 20 === 0 ? 500 : 0
        calls.push(
          client.callTool({ name: 'version', arguments: { ms } }).then(
            result => void seen.push(textOf(result)),
            error => void failed.push(error),
          ),
        )
      }, 10)
      const shown = await apply().finally(() => clearInterval(timer))
      await Promise.all(calls)

      expect(shown.code).toBe(code)
      expect(failed).toEqual([])
      expect(seen).toHaveLength(calls.length)
      expect(calls.length).toBeGreaterThan(100)
      expect([...new Set(seen)].sort()).toEqual(versions)
      for (const client of clients) {
        expect(textOf(await client.callTool({ name: 'version' }))).toBe(versions.at(-1))
      }
    },
  )

  test('lets a call that takes long finish where it began, while others are with the newer version', async () => {
    const url = await runFirst()
    await world.offer('2.0.0')
    const client = await clientV1(url)
    const [old = ''] = await world.containers(name)
    const slow = client.callTool({ name: 'version', arguments: { hold: true } })
    const upgraded = apply()
    await until(async () => expect(await version(url)).toBe('2.0.0'), 150)
    await docker('kill', '--signal', 'USR2', old)
    expect(textOf(await slow)).toBe('1.0.0')
    expect((await upgraded).code).toBe(0)
    expect(textOf(await client.callTool({ name: 'version' }))).toBe('2.0.0')
  })

  test('of a stdio server keeps its sessions, and the calls under way', async () => {
    const speaks = { transport: 'stdio' }
    await world.offer('1.0.0', speaks)
    const url = await world.home.ok(['run', 'clock', '--name', name, '--runtime', 'docker', ...QUIET])
    await world.offer('2.0.0', speaks)
    const client = await clientV1(url)
    const [old = ''] = await world.containers(name)
    const slow = client.callTool({ name: 'version', arguments: { hold: true } })
    const seen = new Set<string>()
    const failed: unknown[] = []
    let over = false
    const steady = (async () => {
      while (!over) {
        await client.callTool({ name: 'version' }).then(
          result => seen.add(textOf(result)),
          error => failed.push(error),
        )
      }
    })()

    const upgraded = apply()
    await until(() => expect(seen).toContain('2.0.0'), 150)
    await docker('kill', '--signal', 'USR2', old)
    const shown = await upgraded
    over = true
    await steady

    expect(shown.code).toBe(0)
    expect(textOf(await slow)).toBe('1.0.0')
    expect(failed).toEqual([])
    expect([...seen]).toEqual(['1.0.0', '2.0.0'])
    expect(await world.containers(name)).toHaveLength(1)
  })

  test('of a workload that is stopped tries the newer version out, and leaves it stopped', async () => {
    const url = await runFirst('--publish', `${await freePort()}:9999`)
    await world.offer('2.0.0')
    const refused = await apply()
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain(`keelson stop ${name}`)

    await world.home.ok(['stop', name])
    expect((await apply()).code).toBe(0)
    expect(await world.home.ok(['status', name])).toMatch(/^Status: +stopped$/m)
    expect(await world.containers(name)).toEqual([])
    await world.home.ok(['start', name])
    expect(await version(url)).toBe('2.0.0')
  })

  test('asks for what the newer version needs, and keeps what there is', async () => {
    const url = await runFirst('-e', 'OWN=kept')
    const variable = { name: 'GREETING', description: 'What it says', required: true }
    await world.offer('2.0.0', { env_vars: [variable] })

    const planned = await apply('--dry-run')
    expect(planned.code).toBe(0)
    expect(planned.stdout).toContain('GREETING (required): What it says')
    expect(planned.stdout).toContain('Nothing was changed.')
    const missing = await apply('--yes')
    expect(missing).toMatchObject({ code: 2, stdout: '' })
    expect(missing.stderr).toContain('GREETING')
    expect(await version(url)).toBe('1.0.0')

    const applied = await apply('--env', 'GREETING=hello', '--format', 'json')
    expect(JSON.parse(applied.stdout)).toMatchObject({
      workload_name: name,
      status: 'upgrade-available',
      candidate_image: `${world.repository}:2.0.0`,
      outcome: 'upgraded',
    })
    expect(await version(url)).toBe('2.0.0 hello')
    expect((await world.config(name)).env_vars).toEqual({ GREETING: 'hello', OWN: 'kept' })
  })
})

test('over HTTP, an upgrade gets its response when it has ended, and subscribers get an event', {
  timeout: 300_000,
}, async () => {
  const url = await runFirst()
  const user = { home: world.home.path, env: world.home.env, run: world.home.keelson }
  const api = await startApi({ user })
  const listening = new AbortController()
  const events = await fetch(`${api.url}/api/v1beta/events`, { signal: listening.signal })
  let heard = ''
  const reading = (async () => {
    for await (const chunk of events.body ?? []) heard += Buffer.from(chunk).toString()
  })().catch(() => undefined)
  const ask = () => api.ask('POST', `/api/v1beta/workloads/${name}/upgrade`)
  const both = { from: `${world.repository}:1.0.0`, to: `${world.repository}:2.0.0` }

  await world.push('2.6.0', 'no-tools')
  await world.offer('2.6.0')
  const refused = await ask()
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('serves as before. The new server')
  await until(() => expect(heard).toContain(`event: workload-rolled-back\ndata: {"name":"${name}"`))
  expect(await version(url)).toBe('1.0.0')

  await world.offer('2.0.0')
  const answer = await ask()
  expect(answer.status, answer.text).toBe(200)
  expect(answer.json()).toMatchObject({ result: { workload_name: name, candidate_image: both.to } })
  expect(await version(url)).toBe('2.0.0')
  const { from, to } = both
  await until(() =>
    expect(heard).toContain(
      `event: workload-upgraded\ndata: {"name":"${name}","from":"${from}","to":"${to}"`,
    ),
  )
  expect((await ask()).json()).toMatchObject({ result: { status: 'up-to-date' } })
  listening.abort()
  await reading
})

describe('a newer version that fails the check', { timeout: 300_000 }, () => {
  test.each([
    ['exits', 'ended before it was ready', 'the database is of another version'],
    ['deaf', 'did not respond within 3 seconds: it does not accept connections', ''],
    ['mute', 'did not respond within 3 seconds', ''],
    ['no-tools', 'returned an error for tools/list: the tools cannot be loaded', ''],
  ] as const)(
    'because it is of the kind "%s" leaves the old one serving',
    async (behaviour, reason, line) => {
      const url = await runFirst('--isolate-network')
      const before = [await world.containers(name), await world.networks(name), await world.config(name)]
      const tag = `3.0.0-${behaviour}`
      await world.push(tag, behaviour)
      await world.offer(tag)

      const shown = await apply('--timeout', '3s')

      expect(shown).toMatchObject({ code: 1, stdout: '' })
      expect(shown.stderr).toContain(
        `"${name}" was not upgraded to ${world.repository}:${tag}; ${world.repository}:1.0.0 serves as before.`,
      )
      expect(shown.stderr).toContain(reason)
      expect(shown.stderr).toContain(line)
      expect(await version(url)).toBe('1.0.0')
      expect([await world.containers(name), await world.networks(name), await world.config(name)]).toEqual(
        before,
      )
      expect(await world.home.ok(['status', name])).toMatch(/^Upgrade: +rolled back from .*:3\.0\.0-/m)
    },
  )

  test('because it is not there leaves the old one serving', async () => {
    const url = await runFirst()
    await world.offer('9.9.9')
    const shown = await apply()
    expect(shown).toMatchObject({ code: 1, stdout: '' })
    expect(shown.stderr).toMatch(/serves as before\. docker could not pull .*:9\.9\.9/)
    expect(await version(url)).toBe('1.0.0')
    expect(await world.containers(name)).toEqual([name])
  })
})
