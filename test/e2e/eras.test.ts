import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningServer, startFixture } from '../support/mcp-fixtures/start-server.ts'
import { type Home, openHome } from './home.ts'
import { firstSdkClient } from './matrix/first-sdk-client.ts'
import { needsPlace } from './places-to-run.ts'

// Stdio servers of each era in containers, and an HTTP server, behind the program.
let home: Home
let remote: RunningServer
let legacy: RunningServer
beforeAll(async () => {
  home = await openHome()
  remote = await startFixture('eras/stateless-http.ts')
  legacy = await startFixture('eras/session-http.ts')
})
afterAll(async () => {
  await remote?.kill()
  await legacy?.kill()
  await home?.close()
}, 120_000)

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

test('status shows that an HTTP server is stateless once an older client has come', {
  timeout: 60_000,
}, async () => {
  const url = await home.ok(['run', '--name', 'far', `${remote.origin}/mcp`])
  const client = await firstSdkClient('2025-11-25', new URL(url), 'streamable-http')
  expect((await client.call('sample')).text).toBe('größer → 🙂')
  await client.close()
  await expect.poll(() => protocolOf('far'), { timeout: 20_000 }).toBe('stateless')
})

test.each([
  ['streamable HTTP', 'a stateless server', 'streamable-http', () => `${remote.origin}/mcp`],
  ['HTTP+SSE', 'a legacy server', 'sse', () => `${legacy.origin}/2025-11-25/mcp`],
] as const)(
  'a proxy without a workload serves older clients of %s before %s',
  {
    timeout: 60_000,
  },
  async (_, _server, over, target) => {
    const running = home.start(['proxy', 'alone', '--target-uri', target()])
    try {
      let said = ''
      running.stdout?.on('data', chunk => {
        said += chunk
      })
      await expect.poll(() => /https?:\/\/\S+/.test(said), { timeout: 20_000 }).toBe(true)
      const url = new URL(/https?:\/\/\S+/.exec(said)?.[0] ?? '')
      const client = await firstSdkClient('2025-06-18', url, over)
      expect((await client.call('form')).text).toBe('ada')
      await client.close()
    } finally {
      running.kill('SIGINT')
    }
  },
)
