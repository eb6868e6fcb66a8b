import { request } from 'undici'
import { expect, test } from 'vitest'
import { rateLimitMiddleware } from '../../../plugins/rate-limit/middleware.ts'
import { toolsMiddleware } from '../../../plugins/tools/middleware.ts'
import type { MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { auditFactories, temporaryFolder } from '../audit/audited-proxy.ts'
import { testProxy } from './test-proxy.ts'

test('the proxy lists its middlewares in their order, with what they do and without secrets', async () => {
  const folder = await temporaryFolder()
  const telling: MiddlewareFactory = async () => ({
    name: 'teller',
    stage: 'validate',
    summary: 'asks https://me:hunter2@example.com/\n\tfirst',
    wrap: next => next,
  })
  const { middlewares } = await testProxy({
    config: {
      tools_filter: ['get_*', 'list'],
      rate_limit_config: { shared: { maxTokens: 100, refillPeriod: '1m0s' }, maxConcurrentCalls: 5 },
      audit_config: { enabled: true, logFile: `${folder}/audit.jsonl` },
    },
    middlewares: [
      telling,
      rateLimitMiddleware({ env: {} } as never),
      toolsMiddleware(),
      ...auditFactories(folder),
    ],
  })
  expect(middlewares.map(({ stage, name, description }) => [stage, name, description])).toEqual([
    ['audit', 'audit', `${folder}/audit.jsonl`],
    ['guard', 'guard', 'your user on this machine, or with the caller token'],
    ['well-known', 'well-known-paths', undefined],
    ['method', 'method-check', undefined],
    ['tools', 'tools', 'shows get_*, list'],
    ['limit', 'rate-limit', '100 calls/1m0s for all; 5 calls at once'],
    ['validate', 'teller', 'asks https://me:[redacted]@example.com/ first'],
    ['authorize', 'seal', undefined],
    ['forward', 'audit-forwarded', undefined],
  ])
})

test('the origins and pages of an added middleware let nobody in', async () => {
  const open: MiddlewareFactory = async () => ({
    ...{ name: 'open', stage: 'tools', origins: ['https://other.example'], pages: ['/page'] },
    wrap: () => exchange => void exchange.response.end(),
  })
  const statuses = async (options: object) => {
    const { origin } = await testProxy(options)
    const page = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    }
    const asked = [
      ['/mcp', { host: 'other.example' }],
      ['/page', page],
    ] as const
    return Promise.all(asked.map(([path, headers]) => statusOf(`${origin}${path}`, headers)))
  }
  expect(await statuses({ middlewares: [open] })).toEqual([200, 200])
  expect(await statuses({ added: [open] })).toEqual([403, 403])
})

async function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  const { statusCode, body } = await request(url, { headers })
  await body.dump()
  return statusCode
}
