/** Waits for a promise, at most `ms`; then fails with what `late` makes. Fails with its reason once aborted. */
export async function withinTime<T>(
  promise: Promise<T>,
  { ms, late, signal }: { ms: number; late: () => Error; signal: AbortSignal | undefined },
): Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(late()), ms)
  const onAbort = () => reject(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    signal?.throwIfAborted()
    return await Promise.race([promise, ended])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}
