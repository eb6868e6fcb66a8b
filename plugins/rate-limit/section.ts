import type { RunConfig } from '../../src/contracts/run-config.ts'
import { sectionRequest } from '../../src/http/section-request.ts'
import { duration } from '../../src/lib/duration.ts'
import {
  closed,
  described,
  integer,
  list,
  nullable,
  type ObjectOf,
  object,
  oneOf,
  optional,
  type Schema,
  type TypeOf,
  text,
} from '../../src/lib/schema.ts'
import { orEmpty } from '../../src/lib/text-schema.ts'
import type { Section } from '../../src/plugin.ts'
import { callCount, checkRateLimit, toolName } from './check-config.ts'
import { failures } from './failures.ts'
import { tokenCount } from './to-bucket-limit.ts'

/** What requests may say is bounded; of run configs `check` says what is wrong. */
const toSchema = (
  forms: Record<'tokens' | 'calls', Schema<number>> & Record<'period' | 'tool', Schema<string>>,
) => {
  const tokenBucket = object(
    {
      maxTokens: described(forms.tokens, 'How many tokens it holds; a call takes one'),
      refillPeriod: described(forms.period, 'In which an empty one fills, as a duration such as `1m0s`'),
    },
    closed,
  )
  const bucket = optional(nullable(tokenBucket))
  const count = optional(nullable(forms.calls))
  return object(
    {
      shared: bucket,
      perUser: bucket,
      tools: optional(nullable(list(object({ name: forms.tool, shared: bucket, perUser: bucket }, closed)))),
      onError: optional(
        described(
          oneOf(['local', 'refuse', '']),
          'While Redis is away: this process limits alone, or refuses calls. Ours',
        ),
      ),
      maxConcurrentCalls: described(count, 'The most calls in flight. Ours'),
      maxConcurrentCallsPerUser: described(count, 'The most calls in flight of each user. Ours'),
      callTimeout: optional(
        described(nullable(orEmpty(forms.period)), 'The longest time for a call, as a duration. Ours'),
      ),
    },
    closed,
  )
}

const rateLimit = toSchema({ tokens: integer, calls: integer, period: text, tool: text })
const requested = toSchema({ tokens: tokenCount, calls: callCount, period: duration, tool: toolName })

const members = {
  rate_limit_config: optional(nullable(rateLimit)),
  rate_limit_namespace: optional(nullable(text)),
}

/** Where ToolHive keeps limits, and what else replicas share. The core refuses what else it asks for. */
const scaling = {
  scaling_config: optional(
    nullable(
      object({
        backend_replicas: optional(nullable(integer)),
        session_redis: optional(
          nullable(
            object(
              {
                address: optional(text),
                db: optional(integer),
                /** Of the keys of sessions, which are not kept there. */
                key_prefix: optional(text),
              },
              closed,
            ),
          ),
        ),
      }),
    ),
  ),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members & typeof scaling> {}
}

export type RateLimitConfig = TypeOf<typeof rateLimit>
export type TokenBucket = NonNullable<RateLimitConfig['shared']>

/** What the run config says of limits; undefined where it says nothing. */
export const rateLimitOf = ({ rate_limit_config: said }: RunConfig): RateLimitConfig | undefined =>
  said && Object.values(said).some(asks) ? said : undefined

/** A bucket of zeroes asks for something, which is then wrong. */
const asks = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value))

/** The Redis that keeps the rates; undefined: this process does. */
export function limitRedisOf(config: RunConfig): { address: string; db: number } | undefined {
  const { address, db = 0 } = config.scaling_config?.session_redis ?? {}
  return address && rateLimitOf(config) ? { address, db } : undefined
}

/** The limits of calls. */
export const rateLimitSection: Section = {
  members,
  request: sectionRequest({
    body: { rate_limit_config: optional(nullable(requested)), ...scaling },
    details: { rate_limit_config: members.rate_limit_config },
    toOptions: () => ({}),
    toMembers({ rate_limit_config: limits, scaling_config: asked }, { scaling_config: before }) {
      const address = asked?.session_redis?.address
      if (address && address !== before?.session_redis?.address)
        throw failures.limit_redis_over_http({ address })
      return {
        ...(limits === undefined ? {} : { rate_limit_config: limits }),
        ...(asked === undefined ? {} : { scaling_config: asked }),
      }
    },
    toDetails: ({ rate_limit_config: said }) => (said ? { rate_limit_config: said } : {}),
    kept: ['rate_limit_config'],
    keptAlways: ['rate_limit_namespace', 'scaling_config'],
  }),
  middlewareEntries: [
    {
      type: 'ratelimit',
      parameter: 'config',
      member: 'rate_limit_config',
      repeats: {
        namespace: 'rate_limit_namespace',
        server_name: 'name',
        redis_addr: 'scaling_config.session_redis.address',
        redis_db: 'scaling_config.session_redis.db',
      },
    },
  ],
  check(config) {
    const said = rateLimitOf(config)
    if (said) checkRateLimit(said, config)
  },
}
