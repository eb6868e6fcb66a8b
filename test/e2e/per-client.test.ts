import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findPaths } from '../../src/paths.ts'
import { call, open, rpc } from '../plugins/proxy/bridge/raw-client.ts'
import { freePort } from '../support/free-port.ts'
import { type Home, openHome, until } from './home.ts'
import { flagsOf, leftOvers, needsPlace, PLACES, type Place } from './places-to-run.ts'
import { shareToolCaches } from './tool-caches.ts'

// The built program with `--sessions per-client`: which instances there are, and that none outlives its client.
const fixtures = new URL('../../fixtures/stdio-servers', import.meta.url).pathname
const EVERYTHING = 'npx://@modelcontextprotocol/server-everything@2026.8.31'

const serverOn = (place: Place): string[] =>
  place === 'process'
    ? [EVERYTHING, ...flagsOf(place)]
    : [
        ...['keelson-test/node:24', '--runtime', place, '--transport', 'stdio'],
        ...['--volume', `${fixtures}:/srv:ro`, '--', 'node', '/srv/one-client.ts'],
      ]

describe.each(PLACES)('one process per client on %s', { timeout: 300_000 }, place => {
  const name = `e2e-per-client-${place}`
  let home: Home
  let url = ''
  beforeAll(async () => {
    home = await openHome()
    await shareToolCaches(home)
    url = `http://127.0.0.1:${await freePort()}/mcp`
  })
  afterAll(() => home?.close(), 120_000)

  /** The instances that serve clients; the workload's own is left out. */
  async function clientInstances(): Promise<string[]> {
    const all =
      place === 'process'
        ? await readdir(join(findPaths(home.env).data, 'processes')).catch(() => [])
        : leftOvers(place, name)
    return all.filter(instance => /-\d+-[\da-f]{8}$/.test(instance))
  }

  const instances = async () => (await clientInstances()).length

  test('begins and ends with the session, and after a kill of the supervisor', async context => {
    needsPlace(context, place)
    const port = new URL(url).port
    await home.ok([
      'run',
      '--name',
      name,
      '--sessions',
      'per-client',
      '--proxy-port',
      port,
      ...serverOn(place),
    ])
    expect(await instances()).toBe(0)

    const [a, b] = await Promise.all([open(url), open(url)])
    expect(await instances()).toBe(2)
    await until(async () => expect(await home.ok(['status', name])).toContain('2 for one client each'))
    const health = await (await fetch(new URL('/health', url))).json()
    expect(health).toMatchObject({ status: 'healthy', client_processes: 2 })
    expect(JSON.parse(await home.ok(['list', '--format', 'json']))).toHaveLength(1)
    await call(url, undefined, a.headers, 'DELETE')
    await until(async () => expect(await instances()).toBe(1))
    expect((await call(url, rpc(1, 'tools/list'), b.headers)).json.result.tools).toEqual(expect.any(Array))

    const [killed] = await clientInstances()
    process.kill(await home.supervisor(), 'SIGKILL')
    await until(async () => expect(await clientInstances()).not.toContain(killed))
    await until(async () => expect((await call(url, rpc(1, 'tools/list'), b.headers)).status).toBe(404))

    const { headers } = await until(() => open(url))
    expect((await call(url, rpc(1, 'tools/list'), headers)).status).toBe(200)
    expect(await instances()).toBe(1)
    await home.ok(['stop', name])
    expect(await instances()).toBe(0)
    await home.ok(['start', name])
    await until(() => open(url))
    await home.ok(['rm', name])
    expect(await instances()).toBe(0)
  })
})
