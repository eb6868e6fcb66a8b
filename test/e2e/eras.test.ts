import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Home, openHome } from './home.ts'
import { needsPlace } from './places-to-run.ts'

// Stdio servers of each era in containers, behind the program.
let home: Home
beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home?.close(), 120_000)

const root = new URL('../..', import.meta.url).pathname

/** Runs a fixture; returns the URL for clients. */
const runFixture = (name: string, file: string, ...flags: string[]) =>
  home.ok([
    ...['run', '--runtime', 'docker', '--name', name, '--transport', 'stdio', ...flags],
    ...['-v', `${root}:/srv:ro`, 'keelson-test/node:24', '--', 'node', `/srv/fixtures/stdio-servers/${file}`],
  ])

const protocolOf = async (name: string) =>
  JSON.parse(await home.ok(['status', name, '--format', 'json'])).protocol

for (const [protocol, file] of [
  ['stateless', 'modern-only.ts'],
  ['legacy', 'conformance.ts'],
] as const) {
  test(`status shows that a server is ${protocol}`, { timeout: 120_000 }, async context => {
    needsPlace(context, 'docker')
    await runFixture(protocol, file)
    expect(await protocolOf(protocol)).toBe(protocol)
  })
}
