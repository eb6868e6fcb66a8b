/**
 * Makes calls share rounds of the work: while one runs, all who call wait for one more that begins after it,
 * so everybody's answer comes from a round that has seen the state at the time of the call.
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
