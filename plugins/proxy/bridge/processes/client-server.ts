import type { ClientInstance, Exchange } from '../../../../src/contracts/pipeline.ts'
import { createAvailability } from '../../availability.ts'
import type { SessionOwner } from '../../session-owner.ts'
import type { BridgedServer } from '../bridged-server.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { RouterOptions } from '../message-router.ts'
import { createStreamLink } from '../server/stream-link.ts'

/** What differs between the router of one client and the one that all share. */
export type OwnRouterOptions = Pick<RouterOptions, 'availability' | 'onGone' | 'onSession' | 'onProtocol'> & {
  readonly maxSessions?: number
}

/** A server process that serves one client, and nobody after it. */
export interface ClientServer extends BridgedServer {
  readonly owner: SessionOwner
  /** The session; undefined before `initialize`, and where a caller has it without one. */
  readonly session: Session | undefined
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** How long the client has done nothing, in milliseconds. */
  readonly idleMs: number
  /** Called for each request of a client without a session. */
  noteUse(): void
  /** Tells the process how its client has logged in. Called for each request of that client. */
  noteLogin(exchange: Exchange): void
  /** Ends the session and the process. Idempotent. */
  end(reason: string): Promise<void>
}

/** Puts a process behind a transport of its own. The end of the session, or of the process, ends both. */
export function createClientServer(
  spawned: ClientInstance,
  options: {
    owner: SessionOwner
    /** Whether it ends with its one session; otherwise a caller has it for all requests without one. */
    hasSession: boolean
    now: () => number
    open: (own: OwnRouterOptions) => BridgedServer
    onSession: (session: Session, server: ClientServer) => void
    /** Called once. `died`: the process ended by itself. */
    onEnded: (server: ClientServer, how: { died: boolean; reason: string }) => void
  },
): ClientServer {
  const { owner, hasSession, now, open, onSession, onEnded } = options
  const startedAt = now()
  let usedAt = startedAt
  let session: Session | undefined
  let hasEnded = false

  function end(reason: string, { died = false } = {}): Promise<void> {
    if (!hasEnded) {
      hasEnded = true
      onEnded(server, { died, reason })
      router.close(reason)
    }
    return spawned.end()
  }

  function opened(begun: Session): void {
    session = begun
    onSession(begun, server)
  }

  const closed = (_: Session, reason: string) => void end(reason)

  const { router, handle } = open({
    availability: createAvailability({ waitMs: 0, maxWaiting: 0 }),
    ...(hasSession ? { maxSessions: 1, onSession: { opened, closed } } : {}),
    onProtocol: () => {},
    onGone: reason => void end(reason, { died: true }),
  })
  const server: ClientServer = {
    router,
    handle,
    owner,
    startedAt,
    get session() {
      return session
    },
    get idleMs() {
      if (session) return router.sessions.idleMs(session)
      return router.calls.size > 0 ? 0 : now() - usedAt
    },
    noteUse() {
      usedAt = now()
    },
    noteLogin({ caller, request }) {
      const { authorization } = request.headers
      if (caller) spawned.attachment.setLogin?.({ caller, authorization })
    },
    end: reason => end(reason),
  }
  router.server.connect(createStreamLink(spawned.attachment))
  return server
}
