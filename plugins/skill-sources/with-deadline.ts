import { isFailure } from '../../src/errors.ts'
import { failures } from './failures.ts'

/**
 * Runs `work` for at most `ms` milliseconds. Fails with `skill_source_timeout` after that time, and with the
 * reason of `signal` when it is aborted.
 */
export async function withDeadline<T>(
  { reference, ms, signal }: { reference: string; ms: number; signal: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const clock = AbortSignal.timeout(ms)
  try {
    return await work(signal ? AbortSignal.any([signal, clock]) : clock)
  } catch (error) {
    signal?.throwIfAborted()
    if (!clock.aborted || isFailure(error)) throw error
    const problem = `it was cancelled after ${ms / 1000} seconds`
    throw failures.skill_source_timeout({ reference, problem }, { cause: error })
  }
}
