/** What is needed to open a session again after the server has lost it. */
export interface Opening {
  readonly path: string
  readonly body: Buffer
}

export interface Session {
  /** As the client knows it. */
  readonly id: string
  /** As the server knows it; differs after the session was opened again. */
  backendId: string
  /** Which of the servers that were connected one after another knows it. */
  epoch: number
  readonly opening: Opening | undefined
  /** Opening again, while that lasts: requests of one session share it. */
  reopening: Promise<boolean> | undefined
  /** The event ids that the client still holds are those of a server that is gone. */
  eventsLost: boolean
  lastSeen: number
}

export interface Sessions {
  readonly size: number
  /** The live session of that id; being asked for keeps it alive. */
  find(id: string): Session | undefined
  add(session: Pick<Session, 'id' | 'epoch' | 'opening'>): Session
  delete(id: string): void
  /** Forgets what has been idle for too long. */
  sweep(): void
}

/**
 * Sessions of one proxy, in memory. Past `max` the one that was idle longest makes room.
 *
 * The map is kept in order of use (to the second), so that sweeping and making room look at the oldest only.
 */
export function createSessions({
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
    find(id) {
      const session = byId.get(id)
      if (!session) return undefined
      const time = now()
      if (time - session.lastSeen >= ttlMs) {
        byId.delete(id)
        return undefined
      }
      // Moving it to the end with every request would make the map's table anew all the time.
      if (time - session.lastSeen >= stepMs) {
        byId.delete(id)
        byId.set(id, session)
        session.lastSeen = time
      }
      return session
    },
    add({ id, epoch, opening }) {
      const session = {
        id,
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
      return session
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
