import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientV1 } from '../../e2e/clients.ts'
import { CA } from '../../e2e/home.ts'
import { flagsOf, leftOvers, needsPlace, PLACES } from '../../e2e/places-to-run.ts'
import { shareToolCaches } from '../../e2e/tool-caches.ts'
import { freePort } from '../../support/free-port.ts'
import { openWorld, type World } from './world.ts'

// Packages of npm, in containers and straight on the host.

const MEMORY = 'npx://@modelcontextprotocol/server-memory'
const EVERYTHING = 'npx://@modelcontextprotocol/server-everything'
const OLD = '2026.7.4'
const NEW = '2026.8.31'

let world: World
beforeAll(async () => {
  world = await openWorld()
  await shareToolCaches(world.home)
})
afterAll(() => world.close(), 180_000)

const offer = (name: string, version: string, transport: string) =>
  world.offer('', { image: `${name}@${version}`, transport, target_port: undefined })

describe.each(PLACES)('on %s', { timeout: 600_000 }, place => {
  test('a newer version of a package takes the place of the one that serves, in the same session', async context => {
    needsPlace(context, place)
    const name = `package-${place}-${process.pid}`
    await offer(MEMORY, OLD, 'stdio')
    const host = place === 'process' ? ['--isolate-network=false'] : []
    const url = await world.home.ok(['run', 'clock', '--name', name, ...flagsOf(place), ...host])
    const client = await clientV1(url)
    const args = { entities: [{ name: 'a', entityType: 'b', observations: [] }] }
    await client.callTool({ name: 'create_entities', arguments: args })
    await offer(MEMORY, NEW, 'stdio')

    const trust = place !== 'process' && existsSync(CA) ? ['--ca-cert', CA] : []
    const applied = await world.home.keelson(['upgrade', 'apply', name, ...trust])

    expect(applied).toMatchObject({ code: 0, stdout: `${name} is upgraded to ${MEMORY}@${NEW}.` })
    expect((await client.listTools()).tools.map(tool => tool.name)).toContain('create_entities')
    expect(await world.config(name)).toMatchObject({ source: `${MEMORY}@${NEW}`, runtime: place })
    const again = await world.home.keelson(['upgrade', 'apply', name])
    expect(again.stdout).toBe(`${name} is up to date: ${MEMORY}@${NEW}.`)
    await world.home.ok(['rm', name])
    if (place !== 'process') expect(leftOvers(place, name)).toEqual([])
  })
})

test('on the host, a server that insists on its port can be upgraded while it is stopped', {
  timeout: 600_000,
}, async () => {
  const name = `port-${process.pid}`
  const port = String(await freePort())
  await offer(EVERYTHING, OLD, 'streamable-http')
  const flags = [
    '--runtime',
    'process',
    '--isolate-network=false',
    '--target-port',
    port,
    '-e',
    `PORT=${port}`,
  ]
  await world.home.ok(['run', 'clock', '--name', name, ...flags, '--', 'streamableHttp'])
  await offer(EVERYTHING, NEW, 'streamable-http')

  const refused = await world.home.keelson(['upgrade', 'apply', name, '--timeout', '5s'])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain(`${EVERYTHING}@${OLD} serves as before`)
  expect(await world.home.ok(['status', name])).toMatch(/^Status: +running$/m)

  await world.home.ok(['stop', name])
  expect(await world.home.keelson(['upgrade', 'apply', name])).toMatchObject({ code: 0 })
  await world.home.ok(['start', name])
  expect(await world.home.ok(['mcp', 'list', 'tools', '--server', name])).toContain('echo')
  await world.home.ok(['rm', name])
})
