import { formatDuration, parseDuration } from '../../../src/lib/duration.ts'

/** Runs something with a signal that aborts after a time, or with another signal. */
export async function withDeadline<T>(
  { timeout, otherwise, signal }: { timeout: string | undefined; otherwise: number; signal: AbortSignal },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ms = parseDuration(timeout ?? '') ?? otherwise
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error(`it took longer than ${formatDuration(ms)}`)), ms)
  try {
    return await run(AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}
