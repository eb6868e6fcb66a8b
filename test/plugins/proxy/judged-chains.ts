import fc from 'fast-check'
import { rateLimitMiddleware } from '../../../plugins/rate-limit/middleware.ts'
import { toolsMiddleware } from '../../../plugins/tools/middleware.ts'
import type { Exchange, MiddlewareFactory, Stage } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

/** A chain: what the run config asks for, and middlewares that change messages. */
export interface Chain {
  readonly backend: 'http' | 'http+sse' | 'stdio' | 'stdio+sse'
  readonly tools: boolean
  readonly limits: boolean
  readonly audit: boolean
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
  changes: fc.array(change, { maxLength: 4 }),
  parses: fc.boolean(),
})

/** Chains that every run has, so that each back end gets calls and each late change is tried. */
export const firstChains: readonly Chain[] = [
  ...(['http', 'http+sse', 'stdio', 'stdio+sse'] as const).map(backend => ({
    ...{ backend, tools: false, limits: false, audit: false, parses: false },
    changes: AFTER.flatMap(stage =>
      (['body', 'url', 'header'] as const).map(what => ({ stage, what, insists: true })),
    ),
  })),
  {
    ...{ backend: 'http', tools: true, limits: true, audit: true, parses: true },
    changes: BEFORE.map(stage => ({ stage, what: 'body', insists: true })),
  },
]

export const configOf = (chain: Chain, folder: string): Partial<RunConfig> => ({
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
