import type { Exchange, Handler, Middleware } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { parseDuration } from '../../src/lib/duration.ts'
import type { Log } from '../../src/log.ts'
import { createThrottledLog } from '../../src/throttled-log.ts'
import { refuseUnavailable } from '../proxy/index.ts'
import { createCallSlots } from './call-slots.ts'
import { setDeadline, whenCallEnds } from './call-watch.ts'
import { type CountedCall, countedCalls } from './counted-calls.ts'
import { describeLimits } from './describe-limits.ts'
import { createKeys, userOf } from './keys.ts'
import { takesOf, toRates } from './limits.ts'
import { openBuckets } from './open-buckets.ts'
import { tooMany } from './reject.ts'
import { rateLimitOf } from './section.ts'

/** When a call may be tried again that found no slot, in milliseconds: nobody knows when one is free. */
const SLOT_MS = 1000

/** Makes the middleware of a workload with limits. Fails with `limit_redis_unavailable`. */
export async function createLimitMiddleware(
  config: RunConfig,
  { log, env }: { log: Log; env: Readonly<Record<string, string | undefined>> },
): Promise<Middleware> {
  const { maxConcurrentCalls, maxConcurrentCallsPerUser, callTimeout } = rateLimitOf(config) ?? {}
  const rates = toRates(config)
  const keys = createKeys({ name: config.name, namespace: config.rate_limit_namespace ?? undefined })
  const timeoutMs = parseDuration(callTimeout || '0') || undefined
  const slots =
    maxConcurrentCalls || maxConcurrentCallsPerUser
      ? createCallSlots({
          most: maxConcurrentCalls || Number.POSITIVE_INFINITY,
          mostPerUser: maxConcurrentCallsPerUser || Number.POSITIVE_INFINITY,
        })
      : undefined
  const warn = createThrottledLog(log)
  const noteRejection = (why: string) => warn(`Calls are rejected: ${why}.`, why)
  const buckets = rates && (await openBuckets(config, { log, env }))

  async function assertRate(exchange: Exchange, calls: readonly CountedCall[]): Promise<void> {
    if (!rates || !buckets) return
    const outcome = await buckets.take(takesOf(rates, { calls, caller: exchange.caller, keys }))
    if (outcome === undefined) return
    if (outcome === 'away')
      throw await refuseUnavailable(exchange, 'The limits of calls cannot be kept now', 1)
    noteRejection('the rate limit is exceeded')
    throw await tooMany(exchange, 'Rate limit exceeded', outcome.waitMs)
  }

  /** Takes slots and starts the clock, and ends both with the call. */
  async function watch(exchange: Exchange, calls: readonly CountedCall[]): Promise<void> {
    const leave = slots?.enter(userOf(exchange.caller), calls.length)
    if (slots && !leave) {
      noteRejection('too many are in flight')
      throw await tooMany(exchange, 'Too many calls are in flight', SLOT_MS)
    }
    const stop = timeoutMs === undefined ? undefined : setDeadline(exchange, timeoutMs)
    if (!leave && !stop) return
    whenCallEnds(exchange, () => {
      leave?.()
      stop?.()
    })
  }

  async function limited(exchange: Exchange, next: Handler): Promise<void> {
    const calls = await countedCalls(exchange)
    if (calls.length > 0) {
      await watch(exchange, calls)
      await assertRate(exchange, calls)
    }
    return next(exchange)
  }

  return {
    name: 'rate-limit',
    stage: 'limit',
    summary: describeLimits(config),
    wrap: next => exchange => limited(exchange, next),
    close: () => buckets?.close(),
  }
}
