import { randomUUID } from 'node:crypto'
import type { ProxyMode } from '../../../../src/contracts/run-config.ts'
import type { ClientMetadata } from '../../eras/client-metadata.ts'
import { createFairShare } from '../../fair-share.ts'
import type { SessionOwner } from '../../session-owner.ts'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { Call } from '../calls/call.ts'
import type { Outbox } from '../http/outbox.ts'

/** One client of the server, from its `initialize` to the end of its session. */
export interface Session {
  readonly id: string
  readonly owner: SessionOwner
  /** The caller whose share of sessions it counts towards. */
  readonly holder: string
  /** The transport of its client; undefined where the client has no session of its own. */
  readonly over: ProxyMode | undefined
  readonly outbox: Outbox
  /** The capabilities that the client declared. */
  readonly capabilities: Capabilities
  /** The protocol version that was agreed on. */
  readonly version: string
  /** The calls in flight, by id key. A client may use the same id twice. */
  readonly calls: Map<string, Set<Call>>
  /** The ids of the server's requests that wait for this client. */
  readonly asked: Set<number>
  /** For the metadata of its requests, where the server is stateless; undefined where it has sessions itself. */
  metadata?: ClientMetadata | undefined
  lastSeen: number
  closed: boolean
}

/** The capabilities that decide which requests of the server a client gets. */
export interface Capabilities {
  readonly sampling?: { readonly tools?: unknown }
  readonly elicitation?: { readonly form?: unknown; readonly url?: unknown }
  readonly roots?: { readonly listChanged?: unknown }
  readonly tasks?: unknown
}

/** Capabilities are nested no deeper in any revision. */
const MAX_DEPTH = 8

/**
 * Reads capabilities. Only members that are objects count. What is nested too deep is left out, because comparing it
 * would overflow the stack.
 */
export function toCapabilities(value: unknown): Capabilities {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      typeof member === 'object' && member !== null ? [[name, shallow(member, MAX_DEPTH)]] : [],
    ),
  )
}

function shallow(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return depth === 0 ? [] : value.map(element => shallow(element, depth - 1))
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return {}
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shallow(member, depth - 1)]))
}

export interface Sessions {
  /** Undefined if the limit of sessions, or the share of the holder, is reached and all of them are in use. */
  open(
    facts: Pick<Session, 'capabilities' | 'version' | 'owner' | 'holder' | 'over' | 'metadata'> & {
      outbox: () => Outbox
    },
  ): Session | undefined
  /** The session with this id. That of another owner or transport does not exist, and does not count as used. */
  find(id: string, of: { owner: SessionOwner; over: ProxyMode }): Session | undefined
  all(): IterableIterator<Session>
  readonly size: number
  /** How long the client has done nothing, in milliseconds. */
  idleMs(session: Session): number
  close(session: Session, reason: string): void
  /** Closes the sessions that were idle for longer than `ttlMs`. */
  sweep(): void
}

/** A session with an open stream or a call in flight is not idle. */
export function createClientSessions(options: {
  limits: BridgeLimits
  ttlMs: number
  now: () => number
  onClose: (session: Session, reason: string) => void
}): Sessions {
  const { limits, ttlMs, now, onClose } = options
  const byId = new Map<string, Session>()
  const share = createFairShare(limits.maxSessions)

  const idleMs = (session: Session): number =>
    session.calls.size > 0 || session.outbox.connected ? 0 : now() - session.lastSeen

  /** Its streams are looked through only where they decide: a session may have had many. */
  const isOver = (session: Session): boolean => now() - session.lastSeen > ttlMs && idleMs(session) > ttlMs

  function close(session: Session, reason: string): void {
    if (session.closed) return
    session.closed = true
    byId.delete(session.id)
    share.give(session.holder)
    onClose(session, reason)
    session.outbox.close()
  }

  /** Ends the session that has been idle longest: one of the holder or, if no place is free at all, anybody's. */
  function makeRoom(holder: string): void {
    let victim: Session | undefined
    for (const session of byId.values()) {
      if (session.holder !== holder && byId.size < limits.maxSessions) continue
      if (idleMs(session) >= limits.reclaimAfterMs && (!victim || session.lastSeen < victim.lastSeen))
        victim = session
    }
    if (victim) close(victim, 'its place was needed')
  }

  return {
    open({ outbox, ...facts }) {
      if (!share.hasRoom(facts.holder)) makeRoom(facts.holder)
      if (!share.take(facts.holder)) return undefined
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
    find(id, { owner, over }) {
      const session = byId.get(id)
      if (!session || session.owner !== owner || session.over !== over) return undefined
      if (isOver(session)) {
        close(session, 'it was idle for too long')
        return undefined
      }
      session.lastSeen = now()
      return session
    },
    all: () => byId.values(),
    idleMs,
    get size() {
      return byId.size
    },
    close,
    sweep() {
      for (const session of byId.values()) {
        if (isOver(session)) close(session, 'it was idle for too long')
        else if (session.outbox.connected) session.lastSeen = now()
      }
    },
  }
}
