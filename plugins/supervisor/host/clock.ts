import { setTimeout as delay } from 'node:timers/promises'

/** Time, as a parameter so that tests need not wait. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Rejects when the signal aborts. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  delay: (ms, signal) => delay(ms, undefined, signal ? { signal } : undefined),
}
