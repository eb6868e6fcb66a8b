import type { SessionOwner } from './session-owner.ts'

/** The request that opened a session, to open it again after the server has lost it. */
export interface Opening {
  readonly path: string
  readonly body: Buffer
}

export interface Session {
  /** The id that the client knows. */
  readonly id: string
  readonly owner: SessionOwner
  /** The id that the server knows; another one after the session was opened again. */
  backendId: string
  /** The number of the connected server that knows the session. */
  epoch: number
  readonly opening: Opening | undefined
  /** Resolves when the session has been opened again; requests of the session share it. */
  reopening: Promise<boolean> | undefined
  /** Whether the event ids of the client belong to a server that has gone. */
  eventsLost: boolean
  lastSeen: number
}

export interface Sessions {
  readonly size: number
  /** The session with this id, which then counts as used. That of another owner does not exist. */
  find(id: string, owner: SessionOwner): Session | undefined
  /** Adds a session, unless there is one with this id, whose owner may be another. */
  add(session: Pick<Session, 'id' | 'owner' | 'epoch' | 'opening'>): void
  delete(id: string): void
  /** Removes the sessions that were idle for longer than `ttlMs`. */
  sweep(): void
}

/**
 * The sessions of one proxy, in memory. Above `max` the session that was idle longest is removed.
 *
 * The map is kept in order of use (to the second), so that sweeping and making room look at the oldest only.
 */
export function createHttpSessions({
  ttlMs,
  max = 10_000,
  now = Date.now,
}: {
  ttlMs: number
  max?: number
  now?: () => number
}): Sessions {
  const byId = new Map<string, Session>()
  const stepMs = Math.min(1000, ttlMs / 100)
  return {
    get size() {
      return byId.size
    },
    find(id, owner) {
      const session = byId.get(id)
      if (!session || session.owner !== owner) return undefined
      const time = now()
      if (time - session.lastSeen >= ttlMs) {
        byId.delete(id)
        return undefined
      }
      // Moving it to the end at every request would replace the table of the map all the time.
      if (time - session.lastSeen >= stepMs) {
        byId.delete(id)
        byId.set(id, session)
        session.lastSeen = time
      }
      return session
    },
    add({ id, owner, epoch, opening }) {
      const known = byId.get(id)
      if (known && now() - known.lastSeen < ttlMs) return
      const session = {
        id,
        owner,
        backendId: id,
        epoch,
        opening,
        reopening: undefined,
        eventsLost: false,
        lastSeen: now(),
      }
      byId.delete(id)
      byId.set(id, session)
      const oldest = byId.keys().next()
      if (byId.size > max && !oldest.done) byId.delete(oldest.value)
    },
    delete(id) {
      byId.delete(id)
    },
    sweep() {
      const limit = now() - ttlMs
      for (const session of byId.values()) {
        if (session.lastSeen > limit) return
        byId.delete(session.id)
      }
    },
  }
}
