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

describe.each(REVISIONS.filter(revision => revision !== '2026-07-28'))(
  'The first SDK for TypeScript with %s before a server of 2026-07-28 over HTTP',
  revision => {
    const client = { name: revision, revision, over: 'either', sdk: 'TypeScript 1' } as const
    const features: FeatureName[] = FEATURE_NAMES.filter(name => exists(name, client, STATELESS))

    test.each(features)('%s', async name => {
      const proxy = await testProxy({ target: server.origin })
      const connected = await firstSdkClient(revision, new URL(proxy.url), 'streamable-http')
      onTestFinished(() => connected.close())
      const signal = AbortSignal.timeout(20_000)
      await CHECKS[name](connected, signal, `${revision} ${name}`)
      expect(proxy.protocol).toBe('stateless')
    })
  },
)
