import { httpFailures } from './failures.ts'

const DEADLINE_SECONDS = 60
const SLOW_DEADLINE_SECONDS = 660

/**
 * Runs an operation. Fails with `deadline_passed` after 60 seconds, or after 11 minutes where it is `slow`; the
 * work's signal aborts then, and its own result is dropped.
 */
export async function withOperationDeadline(
  work: (signal: AbortSignal) => unknown,
  { slow = false }: { slow?: boolean | undefined },
): Promise<unknown> {
  const seconds = slow ? SLOW_DEADLINE_SECONDS : DEADLINE_SECONDS
  const over = new AbortController()
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    over.abort()
    reject(httpFailures.deadline_passed({ seconds }))
  }, seconds * 1000)
  try {
    const done = Promise.resolve(work(over.signal))
    done.catch(() => undefined)
    return await Promise.race([done, promise])
  } finally {
    clearTimeout(timer)
  }
}
