import fc from 'fast-check'
import { authzMiddleware } from '../../../plugins/authz/middleware.ts'
import { rateLimitMiddleware } from '../../../plugins/rate-limit/middleware.ts'
import { toolsMiddleware } from '../../../plugins/tools/middleware.ts'
import type { Exchange, MiddlewareFactory, Stage } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { cedar } from '../authz/authz-world.ts'
import {
  named,
  sendJson,
  type TestWebhook,
  testWebhook,
  webhookFactories,
} from '../webhooks/webhook-world.ts'

/** A chain: what the run config asks for, and middlewares that change messages. */
export interface Chain {
  readonly backend: 'http' | 'http+sse' | 'stdio' | 'stdio+sse'
  readonly tools: boolean
  readonly limits: boolean
  readonly audit: boolean
  /** One that changes messages, and one that judges them. */
  readonly webhooks: boolean
  /** Of Cedar: all but the tool `delete_all`. */
  readonly policies: boolean
  readonly changes: readonly Change[]
  /** Whether the stage that judges reads the message, which refuses ambiguous ones, or only its bytes. */
  readonly parses: boolean
}

interface Change {
  readonly stage: Stage
  readonly what: 'body' | 'url' | 'header'
  /** Whether it goes on when it may not change it. */
  readonly insists: boolean
}

const BEFORE: readonly Stage[] = ['tools', 'telemetry', 'limit', 'mutate', 'validate']
const AFTER: readonly Stage[] = ['authorize', 'credentials', 'exchange', 'sign', 'forward']

const change: fc.Arbitrary<Change> = fc.record({
  stage: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...BEFORE) },
    { weight: 1, arbitrary: fc.constantFrom(...AFTER) },
  ),
  what: fc.constantFrom('body', 'url', 'header'),
  insists: fc.constantFrom(true, true, false),
})

export const anyChain: fc.Arbitrary<Chain> = fc.record({
  backend: fc.constantFrom('http', 'http', 'http+sse', 'stdio', 'stdio+sse'),
  tools: fc.boolean(),
  limits: fc.boolean(),
  audit: fc.boolean(),
  webhooks: fc.boolean(),
  policies: fc.boolean(),
  changes: fc.array(change, { maxLength: 4 }),
  parses: fc.boolean(),
})

/** Chains that every run has, so that each back end gets calls and each late change is tried. */
export const firstChains: readonly Chain[] = [
  ...(['http', 'http+sse', 'stdio', 'stdio+sse'] as const).map(backend => ({
    ...{ backend, tools: false, limits: false, audit: false, parses: false },
    ...{ webhooks: false, policies: false },
    changes: AFTER.flatMap(stage =>
      (['body', 'url', 'header'] as const).map(what => ({ stage, what, insists: true })),
    ),
  })),
  {
    ...{ backend: 'http', tools: true, limits: true, audit: true, parses: true },
    ...{ webhooks: false, policies: false },
    changes: BEFORE.map(stage => ({ stage, what: 'body', insists: true })),
  },
  ...(['http', 'stdio'] as const).flatMap(backend =>
    [false, true].map(policies => ({
      ...{ backend, tools: false, limits: false, audit: false, parses: false, webhooks: true, policies },
      changes: BEFORE.map(stage => ({ stage, what: 'body', insists: true }) as const),
    })),
  ),
]

/** The webhooks of a chain, both of this process. */
export interface ChainWebhooks {
  readonly mutating: TestWebhook
  readonly validating: TestWebhook
}

/** The one that mutates puts another tool in the place of `get_b`, and adds a member to all other messages. */
export const chainWebhooks = async (): Promise<ChainWebhooks> => ({
  mutating: await testWebhook((response, { said: { uid, mcp_request: message } }) => {
    const change =
      message.params?.name === 'get_b'
        ? { op: 'replace', path: '/mcp_request/params/name', value: 'delete_all' }
        : { op: 'add', path: '/mcp_request/params/by_webhook', value: 1 }
    sendJson(response, { version: 'v0.1.0', uid, allowed: true, patch_type: 'json_patch', patch: [change] })
  }),
  validating: await testWebhook(),
})

const POLICIES = [
  'permit(principal, action, resource);',
  'forbid(principal, action == Action::"call_tool", resource == Tool::"delete_all");',
]

export const configOf = (
  chain: Chain,
  folder: string,
  { mutating, validating }: ChainWebhooks,
): Partial<RunConfig> => ({
  ...(chain.webhooks
    ? {
        mutating_webhooks: [named('mutating', mutating.url)],
        validating_webhooks: [named('validating', validating.url)],
      }
    : {}),
  ...(chain.policies ? { authz_config: cedar(...POLICIES) } : {}),
  ...(chain.tools
    ? {
        tools_filter: ['get_*', 'shown'],
        tools_override: {
          real: { name: 'shown', fixed_arguments: { tenant: 'ours', n: 1 } },
          get_b: { hidden_arguments: ['secret'] },
        },
      }
    : {}),
  ...(chain.limits
    ? {
        rate_limit_config: {
          shared: { maxTokens: 1000, refillPeriod: '1m0s' },
          maxConcurrentCalls: 100,
          callTimeout: '1m0s',
        },
      }
    : {}),
  ...(chain.audit
    ? { audit_config: { enabled: true, logFile: `${folder}/audit.jsonl`, includeRequestData: true } }
    : {}),
})

/** The built-in ones but for the audit, and those that change messages. `onRefused` counts changes that failed. */
export const middlewaresOf = (chain: Chain, onRefused: () => void): MiddlewareFactory[] => [
  toolsMiddleware(),
  rateLimitMiddleware({ env: {} } as never),
  ...webhookFactories(),
  authzMiddleware(),
  ...chain.changes.map(
    (one, index): MiddlewareFactory =>
      async () => ({
        name: `change-${index}`,
        stage: one.stage,
        wrap: next => async exchange => {
          try {
            await apply(one.what, exchange, index)
          } catch (error) {
            onRefused()
            if (!one.insists) throw error
          }
          return next(exchange)
        },
      }),
  ),
]

async function apply(what: Change['what'], exchange: Exchange, index: number): Promise<void> {
  if (what === 'url') {
    exchange.url += `${exchange.url.includes('?') ? '&' : '?'}by=${index}`
  } else if (what === 'header') {
    exchange.setHeader('mcp-name', `other-${index}`)
  } else if (exchange.request.method === 'POST') {
    const text = (await exchange.body()).toString('latin1')
    exchange.replaceBody(Buffer.from(text.replace('"name":', `"by-${index}":1,"name":`), 'latin1'))
  }
}
