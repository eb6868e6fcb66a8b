import type { BridgeLimits } from './bridge-limits.ts'
import type { Calls } from './calls/pending-calls.ts'
import type { Sessions } from './clients/client-sessions.ts'
import type { EventBudget } from './http/event-budget.ts'

/** One timer for all time-outs and keep-alives of a bridge. It runs only while there are calls or sessions. */
export interface Sweeper {
  start(): void
  stop(): void
}

export function createSweeper(options: {
  limits: BridgeLimits
  now: () => number
  calls: () => Calls
  sessions: () => Sessions
  budget: EventBudget
}): Sweeper {
  const { limits, now, budget } = options
  let lastKeepAlive = now()
  let timer: NodeJS.Timeout | undefined

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  function sweep(): void {
    const calls = options.calls()
    const sessions = options.sessions()
    const time = now()
    const keepAlive = time - lastKeepAlive >= limits.keepAliveMs
    calls.sweep({ keepAlive })
    if (keepAlive) lastKeepAlive = time
    for (const session of sessions.all()) {
      if (keepAlive) session.outbox.keepAlive()
      session.outbox.sweep()
    }
    sessions.sweep()
    budget.sweep()
    if (sessions.size === 0 && calls.size === 0) stop()
  }

  return {
    start() {
      timer ??= setInterval(sweep, limits.sweepMs).unref()
    },
    stop,
  }
}
