import { randomUUID } from 'node:crypto'
import type { BridgeLimits } from './bridge-limits.ts'
import type { Call } from './call.ts'
import type { Outbox } from './outbox.ts'

/** One client of the server, from its `initialize` until it leaves. */
export interface Session {
  readonly id: string
  readonly outbox: Outbox
  /** What the client said it can do. */
  readonly capabilities: Capabilities
  /** The protocol version that was agreed on. */
  readonly version: string
  /** Requests without an answer, by id key. The same id may be in use twice. */
  readonly calls: Map<string, Set<Call>>
  /** Our ids of the server's requests that this client has not answered. */
  readonly asked: Set<number>
  lastSeen: number
  closed: boolean
}

/** The members of a client's capabilities that decide what it may be asked. */
export interface Capabilities {
  readonly sampling?: { readonly tools?: unknown }
  readonly elicitation?: { readonly form?: unknown; readonly url?: unknown }
  readonly roots?: unknown
}

/** Only objects count: what else a client may write there is not a capability. */
export function toCapabilities(value: unknown): Capabilities {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => typeof member === 'object' && member !== null),
  )
}

export interface Sessions {
  /** Undefined when all places are taken by sessions in use. */
  open(facts: Pick<Session, 'capabilities' | 'version'> & { outbox: () => Outbox }): Session | undefined
  find(id: string): Session | undefined
  all(): IterableIterator<Session>
  readonly size: number
  close(session: Session, reason: string): void
  /** Closes what has been idle for longer than the time to live. */
  sweep(): void
}

/** An open stream or a waiting request keeps a session alive. */
export function createSessions(options: {
  limits: BridgeLimits
  ttlMs: number
  now: () => number
  onClose: (session: Session, reason: string) => void
}): Sessions {
  const { limits, ttlMs, now, onClose } = options
  const byId = new Map<string, Session>()

  const idleFor = (session: Session): number =>
    session.outbox.connected || session.calls.size > 0 ? 0 : now() - session.lastSeen

  function close(session: Session, reason: string): void {
    if (session.closed) return
    session.closed = true
    byId.delete(session.id)
    onClose(session, reason)
    session.outbox.close()
  }

  function makeRoom(): boolean {
    let victim: Session | undefined
    for (const session of byId.values()) {
      if (idleFor(session) >= limits.reclaimAfterMs && (!victim || session.lastSeen < victim.lastSeen))
        victim = session
    }
    if (victim) close(victim, 'its place was needed')
    return victim !== undefined
  }

  return {
    open({ outbox, ...facts }) {
      if (byId.size >= limits.maxSessions && !makeRoom()) return undefined
      const session: Session = {
        ...facts,
        id: randomUUID(),
        outbox: outbox(),
        calls: new Map(),
        asked: new Set(),
        lastSeen: now(),
        closed: false,
      }
      byId.set(session.id, session)
      return session
    },
    find(id) {
      const session = byId.get(id)
      if (!session) return undefined
      if (idleFor(session) > ttlMs) {
        close(session, 'it was idle for too long')
        return undefined
      }
      session.lastSeen = now()
      return session
    },
    all: () => byId.values(),
    get size() {
      return byId.size
    },
    close,
    sweep() {
      for (const session of byId.values()) {
        if (idleFor(session) > ttlMs) close(session, 'it was idle for too long')
        else if (session.outbox.connected) session.lastSeen = now()
      }
    },
  }
}
