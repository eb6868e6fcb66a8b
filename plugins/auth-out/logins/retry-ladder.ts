import { nextWait, type RetryTimes } from './retry-times.ts'

/** Tries something again that fails for now, after ever longer waits. */
export interface RetryLadder {
  /** Plans the next try, `atLeastMs` from now or later. False when it has been tried for too long. */
  plan(atLeastMs?: number): boolean
  /** It has worked: the waits begin anew the next time. */
  reset(): void
  close(): void
}

export function createRetryLadder(times: RetryTimes, again: () => void): RetryLadder {
  let failing: { since: number; tried: number } | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  return {
    plan(atLeastMs = 0) {
      failing ??= { since: Date.now(), tried: 0 }
      const wait = nextWait(times, { tried: failing.tried, elapsedMs: Date.now() - failing.since })
      failing.tried++
      if (wait === undefined) return false
      clearTimeout(timer)
      if (!closed) timer = setTimeout(again, Math.max(wait, atLeastMs)).unref()
      return true
    },
    reset() {
      failing = undefined
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
