/**
 * Makes calls share rounds of the work. Calls that come while a round runs wait for one more round, which starts
 * after it. So each result comes from a round that started after the call.
 */
export function createTurns<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | undefined
  let next: Promise<T> | undefined
  return () => {
    if (next) return next
    const turn = (running ?? Promise.resolve()).then(() => {
      next = undefined
      const round = work()
      running = round.catch(() => undefined)
      return round
    })
    next = turn
    return turn
  }
}
