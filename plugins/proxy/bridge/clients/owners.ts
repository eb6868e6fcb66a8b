import type { Session } from './client-sessions.ts'

/** Remembers which session a task or an elicitation of the server belongs to. */
export interface Owners<K extends string> {
  /** Does nothing for a key that is too long to be an id. */
  remember(key: K, session: Session): void
  /** Undefined when the owner is unknown, or its session is closed. */
  find(key: K): Session | undefined
  clear(): void
}

const MAX = 10_000
const LONGEST = 1024

/** Keeps 10 000 owners; the oldest are forgotten first. */
export function createOwners<K extends string>(): Owners<K> {
  const owners = new Map<K, Session>()
  return {
    remember(key, session) {
      if (key.length > LONGEST) return
      owners.delete(key)
      owners.set(key, session)
      if (owners.size > MAX) for (const oldest of owners.keys()) return void owners.delete(oldest)
    },
    find(key) {
      const session = owners.get(key)
      if (!session?.closed) return session
      owners.delete(key)
      return undefined
    },
    clear: () => owners.clear(),
  }
}
