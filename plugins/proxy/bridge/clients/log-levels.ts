import type { Session } from './client-sessions.ts'

/** RFC 5424 severities as MCP spells them, most verbose first. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** The place of a level, 0 for the most verbose one; negative when MCP has no such level. */
export const rankOf = (level: unknown): number => LEVELS.indexOf(String(level))

/** The log level of each session. The server has only one level. */
export interface LogLevels {
  /** Sets a session's level. True: it is now the most verbose one, so the server must be told. */
  set(session: Session, level: string): boolean
  /** Removes a session's level. Returns the level that the server should have now, if that changed. */
  remove(session: Session): string | undefined
  /** Whether the session gets messages of this level. Without a level of its own it gets all. */
  admits(session: Session, level: unknown): boolean
  /** The most verbose level, for a new server process. */
  readonly lowest: string | undefined
}

export function createLogLevels(): LogLevels {
  const levels = new Map<Session, string>()
  const lowest = () => {
    let found: string | undefined
    for (const level of levels.values())
      if (found === undefined || rankOf(level) < rankOf(found)) found = level
    return found
  }
  return {
    set(session, level) {
      // The server refuses an unknown level.
      if (rankOf(level) < 0) return true
      levels.set(session, level)
      return lowest() === level
    },
    remove(session) {
      const before = lowest()
      levels.delete(session)
      const after = lowest()
      return after === before ? undefined : after
    },
    admits(session, level) {
      const own = levels.get(session)
      return (
        own === undefined || typeof level !== 'string' || rankOf(level) < 0 || rankOf(level) >= rankOf(own)
      )
    },
    get lowest() {
      return lowest()
    },
  }
}
