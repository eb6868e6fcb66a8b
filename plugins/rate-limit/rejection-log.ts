import type { Log } from '../../src/log.ts'

/** At most one line in this time, in milliseconds, for each kind of rejection. */
const LOG_MS = 30_000

/** Logs rejected calls calmly: a flood of them is one line now and then, which says how many there were. */
export function createRejectionLog(log: Log, now: () => number = Date.now): (why: string) => void {
  const kinds = new Map<string, { loggedAt: number; since: number }>()
  return why => {
    const kind = kinds.get(why) ?? { loggedAt: Number.NEGATIVE_INFINITY, since: 0 }
    kinds.set(why, kind)
    kind.since += 1
    if (now() - kind.loggedAt < LOG_MS) return
    log.warn(`Calls are rejected: ${why}.`, { calls: kind.since })
    kind.loggedAt = now()
    kind.since = 0
  }
}
