/**
 * Makes calls share rounds of the work. Calls that come while a round runs wait for one more round, which starts
 * after it. So each result comes from a round that started after the call.
 */
export function coalesceCalls<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | undefined
  let next: Promise<T> | undefined
  return () => {
    if (next) return next
    const shared = (running ?? Promise.resolve()).then(() => {
      next = undefined
      const run = work()
      running = run.catch(() => undefined)
      return run
    })
    next = shared
    return shared
  }
}
