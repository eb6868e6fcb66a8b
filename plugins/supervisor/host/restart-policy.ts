import type { Times } from './times.ts'
import type { StartMode } from './workload-instance.ts'

/** What to do about a server that does not run. */
export type RestartDecision =
  | { readonly giveUp: string }
  | { readonly waitMs: number; readonly status: 'unhealthy'; readonly reason: string }
  | {
      readonly waitMs: number
      readonly status: 'starting'
      readonly reason: string
      readonly attempts: number
    }

/** Decides when a server is started again, how, and when to give up. It counts; it starts nothing itself. */
export interface RestartPolicy {
  /** The server has to be started. `ranMs`: how long it ran before, in milliseconds; 0 when it did not. */
  begin(cause: { reason: string; mode: StartMode; ranMs: number }): void
  /** Counts an attempt and says how to start the server. */
  attempt(): StartMode
  /**
   * The attempt failed. `isRuntimeAway`: the runtime does not respond, so the attempt does not count.
   * `isFinal`: another attempt would be useless, or would help an attacker.
   */
  failed(attempt: { reason: string; isRuntimeAway: boolean; isFinal: boolean }): void
  next(): RestartDecision
}

/** After this many failed attempts the instance is made anew instead of resumed. */
const RESUME_ATTEMPTS = 2

export function createRestartPolicy({
  delays,
  attempts: most,
  stable,
}: Pick<Times, 'delays' | 'attempts' | 'stable'>): RestartPolicy {
  let attempts = 0
  let runtimeFailures = 0
  let reason = ''
  let mode: StartMode = 'create'
  let isFinal = false
  const delayOf = (step: number) => delays[Math.min(step, delays.length - 1)] ?? 0

  return {
    begin(cause) {
      if (cause.ranMs >= stable) attempts = 0
      ;({ reason, mode } = cause)
      runtimeFailures = 0
      isFinal = false
    },
    attempt() {
      attempts++
      return mode
    },
    failed(attempt) {
      ;({ reason, isFinal } = attempt)
      if (attempt.isRuntimeAway) {
        attempts--
        runtimeFailures++
      } else {
        runtimeFailures = 0
        if (attempts > RESUME_ATTEMPTS) mode = 'create'
      }
    },
    next() {
      if (isFinal) return { giveUp: reason }
      if (attempts >= most) return { giveUp: `Given up after ${most} restarts: ${reason}` }
      return runtimeFailures
        ? { waitMs: delayOf(runtimeFailures - 1), status: 'unhealthy', reason }
        : { waitMs: delayOf(attempts), status: 'starting', reason, attempts }
    },
  }
}
