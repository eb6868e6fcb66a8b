import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startFixture } from '../support/mcp-fixtures/start-server.ts'
import { runSuite, SUITES } from './conformance/run-suite.ts'
import { type Home, openHome } from './home.ts'

let home: Home
beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home?.closeRemote(), 120_000)

/** The suite reads and watches resources under URIs that it knows. Those of an endpoint have another form. */
const BY_URI = [
  'resources-read-binary',
  'resources-read-text',
  'resources-subscribe',
  'resources-templates-read',
  'resources-unsubscribe',
]
/** It reports as information, not as a failure, that responses come as JSON. */
const BY_STREAM = ['server-sse-multiple-streams']

const without = (lines: readonly string[], scenarios: readonly string[]) =>
  lines.filter(line => !scenarios.includes(line.split(' ', 1)[0] ?? ''))

test.each([1, 5])(
  'the official suite finds the same through an endpoint with %d servers as direct, but for URIs',
  async count => {
    const server = await startFixture('http-server-2025.ts')
    onTestFinished(() => server.kill())
    const servers = Array.from({ length: count }, (_, index) => `suite-${count}-${index}`)
    for (const name of servers) await home.ok(['run', `${server.origin}/mcp`, '--name', name])
    const named = servers.flatMap(name => ['--server', name])
    // The suite knows the names of the tools.
    const created = await home.ok(['endpoint', 'create', `all-${count}`, ...named, '--naming', 'plain'])
    onTestFinished(async () => void (await home.keelson(['rm', `all-${count}`, ...servers])))
    const url = created.trim()

    const direct = await runSuite(SUITES.older, `${server.origin}/mcp`, [])
    const through = await runSuite(SUITES.older, url, [])

    expect(direct.length).toBeGreaterThan(36)
    const other = [...BY_URI, ...BY_STREAM]
    expect(without(through, other)).toEqual(without(direct, other))
    expect(without(through, BY_URI).filter(line => line.endsWith(' FAILURE'))).toEqual([])
  },
  240_000,
)
