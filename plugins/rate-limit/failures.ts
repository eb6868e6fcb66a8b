import { defineFailures } from '../../src/errors.ts'

export const failures = defineFailures({
  limit_redis_unavailable: {
    status: 503,
    text: (d: { address: string; problem: string }) =>
      `Redis at ${d.address}, which keeps the limits of calls, cannot be used: ${d.problem}.`,
    hint: 'Start it, or run the workload without --rate-limit-redis: then its own process keeps the limits.',
  },
  limit_redis_unconfirmed: {
    status: 400,
    exit: 2,
    text: (d: { address: string }) =>
      `The file of --from-config names Redis at ${d.address} for the limits of calls. It would get the password in KEELSON_SESSION_REDIS_PASSWORD.`,
    hint: d => `If that Redis is yours, give --rate-limit-redis ${d.address} as well.`,
  },
  limit_redis_over_http: {
    status: 400,
    text: (d: { address: string }) =>
      `A request over HTTP cannot name the Redis for the limits of calls (${d.address}).`,
    hint: 'Run the workload with `keelson run` and --rate-limit-redis.',
  },
})
