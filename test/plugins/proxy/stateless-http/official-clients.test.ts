import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { exists, FEATURE_NAMES, type FeatureName, REVISIONS } from '../../../e2e/matrix/combinations.ts'
import { CHECKS } from '../../../e2e/matrix/features.ts'
import { firstSdkClient } from '../../../e2e/matrix/first-sdk-client.ts'
import { type RunningServer, startFixture } from '../../../support/mcp-fixtures/start-server.ts'
import { testProxy } from '../test-proxy.ts'

let server: RunningServer
beforeAll(async () => {
  server = await startFixture('eras/stateless-http.ts')
})
afterAll(() => server?.kill())

const STATELESS = { revision: '2026-07-28', transport: 'streamable-http' } as const

const CLIENTS = [
  ...REVISIONS.filter(revision => revision !== '2026-07-28').map(revision => ({
    name: revision,
    revision,
    over: 'streamable-http' as const,
    sdk: 'TypeScript 1' as const,
  })),
  {
    name: '2024-11-05 over HTTP+SSE',
    revision: '2024-11-05' as const,
    over: 'sse' as const,
    sdk: 'TypeScript 1' as const,
  },
]

describe.each(CLIENTS)(
  'The first SDK for TypeScript with $name before a server of 2026-07-28 over HTTP',
  client => {
    const features: FeatureName[] = FEATURE_NAMES.filter(name => exists(name, client, STATELESS))

    test.each(features)('%s', async name => {
      const proxy = await testProxy({ target: server.origin })
      const connected = await firstSdkClient(client.revision, new URL(proxy.url), client.over)
      onTestFinished(() => connected.close())
      const signal = AbortSignal.timeout(20_000)
      await CHECKS[name](connected, signal, `${client.name} ${name}`)
      expect(proxy.protocol).toBe('stateless')
    })
  },
)
