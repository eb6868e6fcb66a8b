import type { Session } from './client-sessions.ts'

/** RFC 5424 severities as MCP spells them, most verbose first. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** What each session wants to read of the server's log; the server itself knows one level only. */
export interface LogLevels {
  /** Notes a wish. True: this is now the most verbose one, so the server must hear it. */
  set(session: Session, level: string): boolean
  /** Takes a session's wish back; the level the server should have now, if that changed. */
  remove(session: Session): string | undefined
  /** Whether the session wants messages of this level. Without a wish the server's choice stands. */
  admits(session: Session, level: unknown): boolean
  /** The most verbose wish, for a new server process. */
  readonly lowest: string | undefined
}

export function createLogLevels(): LogLevels {
  const wishes = new Map<Session, string>()
  const rank = (level: string) => LEVELS.indexOf(level)
  const lowest = () => {
    let found: string | undefined
    for (const level of wishes.values()) if (found === undefined || rank(level) < rank(found)) found = level
    return found
  }
  return {
    set(session, level) {
      // An unknown level is the server's to refuse.
      if (rank(level) < 0) return true
      wishes.set(session, level)
      return lowest() === level
    },
    remove(session) {
      const before = lowest()
      wishes.delete(session)
      const after = lowest()
      return after === before ? undefined : after
    },
    admits(session, level) {
      const wish = wishes.get(session)
      return wish === undefined || typeof level !== 'string' || rank(level) < 0 || rank(level) >= rank(wish)
    },
    get lowest() {
      return lowest()
    },
  }
}
