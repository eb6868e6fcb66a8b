/** Keeps calls from a server that has not responded to the last ones. All clients of an endpoint share it. */
export interface Breaker {
  /**
   * Returns what to call when the call has ended, or the seconds until the next one may begin. That one then tries alone
   * whether the server responds again.
   */
  begin(server: string): { seconds: number } | Turn
}

/** A call that may go to its server. */
export interface Turn {
  end(outcome: Outcome): void
}

/** `responded`: also with an error. `none`: the client has cancelled, so that nothing is known. */
export type Outcome = 'responded' | 'failed' | 'none'

/** So many calls in a row without a response keep further ones from a server. */
const MOST_FAILURES = 5
const PAUSE_MS = 15_000

interface State {
  failures: number
  /** When a call may try again; milliseconds since the epoch. */
  until: number
  isTrying: boolean
}

export function createBreaker(now: () => number = Date.now): Breaker {
  const states = new Map<string, State>()
  const isOpen = ({ failures }: State) => failures >= MOST_FAILURES

  function note(state: State, outcome: Outcome): void {
    if (outcome === 'responded') state.failures = 0
    if (outcome !== 'failed') return
    state.failures += 1
    state.until = now() + PAUSE_MS
  }

  return {
    begin(server) {
      const state = states.get(server) ?? { failures: 0, until: 0, isTrying: false }
      states.set(server, state)
      const isTrial = isOpen(state)
      if (isTrial) {
        const left = state.until - now()
        if (left > 0 || state.isTrying) return { seconds: Math.max(1, Math.ceil(left / 1000)) }
        state.isTrying = true
      }
      return {
        end(outcome) {
          if (isTrial) state.isTrying = false
          note(state, outcome)
        },
      }
    },
  }
}
