import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { exists, FEATURE_NAMES, REVISIONS } from '../../../e2e/matrix/combinations.ts'
import { CHECKS } from '../../../e2e/matrix/features.ts'
import { firstSdkClient } from '../../../e2e/matrix/first-sdk-client.ts'
import { type RunningServer, startFixture } from '../../../support/mcp-fixtures/start-server.ts'
import { testProxy } from '../test-proxy.ts'

let server: RunningServer
beforeAll(async () => {
  server = await startFixture('eras/session-http.ts')
})
afterAll(() => server?.kill())

const WITH_SESSIONS = REVISIONS.filter(revision => revision !== '2026-07-28')
const CLIENTS = WITH_SESSIONS.map(revision => ({
  name: `a client of ${revision}`,
  revision,
  over: 'sse' as const,
  sdk: 'TypeScript 1' as const,
}))

describe.each(WITH_SESSIONS)('Before a server of %s over streamable HTTP alone', revision => {
  describe.each(CLIENTS)('$name has over HTTP+SSE', client => {
    const features = FEATURE_NAMES.filter(name =>
      exists(name, client, { revision, transport: 'streamable-http' }),
    )

    test.each(features)('%s', async name => {
      const proxy = await testProxy({ target: `${server.origin}/${revision}` })
      const connected = await firstSdkClient(client.revision, new URL(proxy.url), client.over)
      onTestFinished(() => connected.close())
      await CHECKS[name](connected, AbortSignal.timeout(20_000), `${revision} ${client.revision} ${name}`)
      expect(proxy.protocol).toBe('legacy')
    })
  })
})
