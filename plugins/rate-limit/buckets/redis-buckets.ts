import { messageOf } from '../../../src/errors.ts'
import { withinTime } from '../../../src/lib/within-time.ts'
import type { Log } from '../../../src/log.ts'
import { connectRedis, type RedisAccess } from '../../../src/redis/connect-redis.ts'
import { failures } from '../failures.ts'
import type { Buckets, Shortage, Take } from './buckets.ts'
import { TAKE_TOKENS } from './take-script.ts'

/** As many calls may wait for Redis as a bridge lets wait for its server. */
const MOST_WAITING = 20_000
/** While Redis is away, one call after this time finds out whether it is back; the others do not wait for it. */
const PAUSE_MS = 1000

/**
 * Keeps buckets in Redis, for any number of processes. While it is away, `local` is asked instead, and where that is
 * undefined the outcome is `away`. Fails with `limit_redis_unavailable` when there is no connection at first.
 */
export async function openRedisBuckets(
  access: RedisAccess,
  {
    address,
    log,
    local,
    now = () => performance.now(),
  }: { address: string; log: Log; local: Buckets | undefined; now?: () => number },
): Promise<Buckets> {
  let lastProblem: unknown
  let isAway = false
  let askAgainAt = 0
  const redis = await connectRedis(access, {
    mostWaiting: MOST_WAITING,
    onError: error => {
      lastProblem = error
    },
  }).catch((error: unknown) => {
    throw failures.limit_redis_unavailable(
      { address, problem: messageOf(lastProblem ?? error) },
      { cause: error },
    )
  })

  async function askRedis(takes: readonly Take[]): Promise<Shortage | undefined> {
    const reply = await withinTime(
      redis.eval(TAKE_TOKENS, {
        keys: takes.map(({ key }) => key),
        arguments: takes.flatMap(({ limit, tokens }) =>
          [limit.maxTokens, limit.periodMs, tokens].map(value => String(value)),
        ),
      }),
      { ms: access.operationMs, late: () => new Error('it does not respond'), signal: undefined },
    )
    const [place, waitMs] = Array.isArray(reply) ? reply.map(Number) : []
    if (place === undefined || waitMs === undefined) throw new Error('it returns something else')
    return place === 0 ? undefined : { index: place - 1, waitMs }
  }

  function noteAway(error: unknown): void {
    askAgainAt = now() + PAUSE_MS
    if (isAway) return
    isAway = true
    const meanwhile = local ? 'this process limits calls by itself' : 'calls are refused'
    log.warn(`Redis at ${address} cannot be used (${messageOf(error)}); meanwhile ${meanwhile}.`)
  }

  return {
    async take(takes) {
      if (takes.length === 0) return undefined
      if (!isAway || now() >= askAgainAt) {
        if (isAway) askAgainAt = Number.POSITIVE_INFINITY
        try {
          const shortage = await askRedis(takes)
          if (isAway) log.info(`Redis at ${address} keeps the limits of calls again.`)
          isAway = false
          return shortage
        } catch (error) {
          noteAway(error)
        }
      }
      return local ? local.take(takes) : 'away'
    },
    close() {
      redis.destroy()
      local?.close()
    },
  }
}
