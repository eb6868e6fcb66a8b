import type { Session } from './client-sessions.ts'

/** Remembers whose a thing of the server is: a task, an elicitation, a progress token that outlives its request. */
export interface Owners<K> {
  remember(key: K, session: Session): void
  /** Undefined when nobody's, or when the session is closed. */
  find(key: K): Session | undefined
  clear(): void
}

const MAX = 10_000

/** Bounded: the oldest is forgotten first. */
export function createOwners<K>(): Owners<K> {
  const owners = new Map<K, Session>()
  return {
    remember(key, session) {
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
