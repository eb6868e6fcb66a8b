import type { App } from '../../../src/app.ts'
import { parseDuration } from '../../../src/lib/duration.ts'

/** When a login that cannot be renewed for now is tried again, in milliseconds except `tries`. */
export interface RetryTimes {
  readonly first: number
  readonly longest: number
  readonly tries: number
  /** After this time, as after the tries, it is tried at each tick only. */
  readonly elapsed: number
  readonly tick: number
  /** After this time somebody has to log in. */
  readonly giveUp: number
}

export function readRetryTimes(env: App['env']): RetryTimes {
  const duration = (text: string | undefined, otherwise: number) => parseDuration(text ?? '') || otherwise
  return {
    first: duration(env.KEELSON_TOKEN_REFRESH_INITIAL_RETRY_INTERVAL, 10_000),
    longest: duration(env.KEELSON_TOKEN_REFRESH_MAX_RETRY_INTERVAL, 120_000),
    tries: Number(env.KEELSON_TOKEN_REFRESH_MAX_TRIES) || 5,
    elapsed: duration(env.KEELSON_TOKEN_REFRESH_MAX_ELAPSED_TIME, 300_000),
    tick: duration(env.KEELSON_TOKEN_AUTH_RETRYING_TICK_INTERVAL, 600_000),
    giveUp: duration(env.KEELSON_TOKEN_AUTH_RETRYING_MAX_ELAPSED, 86_400_000),
  }
}

/** The wait before the next try; undefined when it is over. */
export function nextWait(times: RetryTimes, { tried, elapsedMs }: { tried: number; elapsedMs: number }) {
  if (elapsedMs > times.elapsed + times.giveUp) return undefined
  if (tried >= times.tries || elapsedMs > times.elapsed) return times.tick
  return Math.min(times.first * 2 ** tried, times.longest)
}
