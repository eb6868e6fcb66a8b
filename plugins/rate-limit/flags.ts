import { type FlagOptions, type FlagValues, flag } from '../../src/cli/flags.ts'
import { failures } from '../../src/errors.ts'
import { formatDuration } from '../../src/lib/duration.ts'
import type { RunFlags } from '../../src/plugin.ts'
import type { RateLimitConfig, TokenBucket } from './section.ts'
import { toBucketLimit } from './to-bucket-limit.ts'

const table = {
  'rate-limit': flag.string('most tool calls in a period of time, for all users together, e.g. 100/1m', {
    placeholder: 'CALLS/DURATION',
  }),
  'rate-limit-per-user': flag.string('most tool calls in a period of time, for each user', {
    placeholder: 'CALLS/DURATION',
  }),
  'rate-limit-redis': flag.string(
    'Redis where several processes count these calls together; rediss://HOST:PORT for TLS',
    { placeholder: 'HOST:PORT' },
  ),
  'max-concurrent-calls': flag.integer('most tool calls in flight, for all users together', { min: 1 }),
  'max-concurrent-calls-per-user': flag.integer('most tool calls in flight, for each user', { min: 1 }),
  'call-timeout': flag.duration('longest time that a tool call may take'),
}

declare module '../../src/contracts/run-options.ts' {
  interface RunOptions extends FlagOptions<typeof table> {}
}

/** How many calls there may be; the same for workloads and for the standalone proxy. */
export const rateLimitFlags: RunFlags = {
  title: 'Limits',
  of: ['run', 'proxy'],
  flags: table,
  apply(values: FlagValues<typeof table>, config) {
    const timeout = values['call-timeout']
    const members: { [K in keyof RateLimitConfig]: RateLimitConfig[K] | undefined } = {
      shared: toBucket('rate-limit', values['rate-limit']),
      perUser: toBucket('rate-limit-per-user', values['rate-limit-per-user']),
      maxConcurrentCalls: values['max-concurrent-calls'],
      maxConcurrentCallsPerUser: values['max-concurrent-calls-per-user'],
      callTimeout: timeout === undefined ? undefined : formatDuration(timeout),
    }
    const given = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
    if (Object.keys(given).length) config.rate_limit_config = given
    const address = values['rate-limit-redis']
    if (address === undefined) return
    if (!members.shared && !members.perUser) {
      throw failures.usage({
        text: '--rate-limit-redis does not go with a workload that has no rates to keep there.',
        hint: 'Give --rate-limit or --rate-limit-per-user as well.',
      })
    }
    config.scaling_config = { session_redis: { address } }
  },
}

function toBucket(name: string, text: string | undefined): TokenBucket | undefined {
  if (text === undefined) return undefined
  const [, calls, period = ''] = /^(\d+)\/(.+)$/.exec(text) ?? []
  // `100/m` is 100/1m
  const bucket = { maxTokens: Number(calls), refillPeriod: /^[a-z]/.test(period) ? `1${period}` : period }
  if (typeof toBucketLimit(bucket) !== 'string') return bucket
  throw failures.usage({
    text: `--${name} takes calls and a duration such as 100/1m, not "${text}".`,
    hint: 'From 1 to 1000000 calls, in 1ms to 720h.',
  })
}
