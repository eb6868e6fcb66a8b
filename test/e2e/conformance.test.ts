import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { checkAuthorizationServer } from '../conformance/authorization-server.ts'
import { startFixture } from '../support/mcp-fixtures/start-server.ts'
import { runSuite, SUITES } from './conformance/run-suite.ts'
import { type Home, openHome } from './home.ts'
import { needsPlace } from './places-to-run.ts'

let home: Home
beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home?.close(), 120_000)

test.each([
  {
    revision: '2025-11-25',
    fixture: 'http-server-2025.ts',
    suite: SUITES.older,
    args: [],
    fails: [],
    atLeast: 36,
  },
  {
    revision: '2026-07-28',
    fixture: 'http-server-modern.ts',
    suite: SUITES.newer,
    args: ['--requirements', '2026-07-28'],
    // An extension that the SDK of the fixture does not have; its requests travel all the same.
    fails: ['tasks'],
    atLeast: 160,
  },
])(
  '$revision: the official suite finds the same through the program as direct',
  async row => {
    const server = await startFixture(row.fixture)
    onTestFinished(() => server.kill())
    const name = `conformance-${row.revision}`
    const url = await home.ok(['run', `${server.origin}/mcp`, '--name', name])

    const direct = await runSuite(row.suite, `${server.origin}/mcp`, row.args)
    const proxied = await runSuite(row.suite, url, row.args)

    expect(direct.filter(line => line.endsWith(' SUCCESS')).length).toBeGreaterThanOrEqual(row.atLeast)
    const failed = direct.filter(line => line.endsWith(' FAILURE'))
    expect(failed.filter(line => !row.fails.some(area => line.startsWith(area)))).toEqual([])
    expect(proxied).toEqual(direct)
  },
  240_000,
)

/** Runs a stdio server of the fixtures in a container. Returns the URL of its proxy. */
const bridge = (name: string, fixture: string): Promise<string> =>
  home.ok([
    ...['run', '--runtime', 'docker', '--name', name, '--transport', 'stdio'],
    ...['-v', `${new URL('../..', import.meta.url).pathname}:/srv:ro`, 'keelson-test/node:24'],
    ...['--', 'node', `/srv/fixtures/stdio-servers/${fixture}`],
  ])

test('the program bridges a stdio server of 2026-07-28: the suite finds the same as over HTTP', {
  timeout: 240_000,
}, async context => {
  needsPlace(context, 'docker')
  const server = await startFixture('http-server-modern.ts')
  onTestFinished(() => server.kill())
  const url = await bridge('conformance-bridged-2026', 'modern-conformance.ts')
  const args = ['--requirements', '2026-07-28']

  const direct = await runSuite(SUITES.newer, `${server.origin}/mcp`, args)
  const bridged = await runSuite(SUITES.newer, url, args)

  expect(direct.filter(line => line.endsWith(' SUCCESS')).length).toBeGreaterThanOrEqual(160)
  expect(bridged).toEqual(direct)
})

test('the program bridges a stdio server: the suite finds no failure', {
  timeout: 240_000,
}, async context => {
  needsPlace(context, 'docker')
  const url = await bridge('conformance-bridged', 'conformance.ts')

  const bridged = await runSuite(SUITES.older, url, [])

  expect(bridged.filter(line => line.endsWith(' SUCCESS')).length).toBeGreaterThanOrEqual(30)
  expect(bridged.filter(line => line.endsWith(' FAILURE'))).toEqual([])
})

test('the suite for authorization servers finds that of a workload in order', async () => {
  const checks = await checkAuthorizationServer({ cimd: { enabled: true } }, '2026-07-28')
  expect(checks.map(({ id, status }) => `${id} ${status}`).sort()).toEqual([
    'authorization-code-grant SUCCESS',
    'authorization-server-metadata SUCCESS',
    'authorization-server-metadata-cimd SUCCESS',
  ])
})
