import type { Log } from './log.ts'

const EVERY_MS = 30_000

/**
 * Returns a function that logs warnings which others can cause at will, so that a flood of them is one line now and then:
 * of each kind at most one in `everyMs` (milliseconds, 30 seconds without it), which says in `times` how many there were
 * since the last. Kinds are never what others have written: there would be no end of them.
 */
export function createThrottledLog(
  log: Log,
  { everyMs = EVERY_MS, now = Date.now }: { everyMs?: number; now?: () => number } = {},
): (text: string, kind?: string) => void {
  const kinds = new Map<string, { loggedAt: number; times: number }>()
  return (text, kind = '') => {
    const seen = kinds.get(kind) ?? { loggedAt: Number.NEGATIVE_INFINITY, times: 0 }
    kinds.set(kind, seen)
    seen.times += 1
    if (now() - seen.loggedAt < everyMs) return
    log.warn(text, { times: seen.times })
    seen.loggedAt = now()
    seen.times = 0
  }
}
