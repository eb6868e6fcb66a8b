import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Log } from '../../../src/log.ts'
import type { Session, Sessions } from '../http-sessions.ts'
import type { SessionOwner } from '../session-owner.ts'
import type { ConnectedServer } from './connected-servers.ts'
import type { Outgoing } from './relay-http.ts'
import { reopen } from './reopen-session.ts'
import type { Sign } from './signed.ts'

const REOPEN_TIMEOUT_MS = 10_000

/** A longer `initialize` is not kept, since each session keeps one. The bridge has the same limit for capabilities. */
const MAX_OPENING_BYTES = 16 * 1024

/** A request that was sent to a server, and the session that it belongs to. */
interface Sent {
  readonly session: Session | undefined
  readonly server: ConnectedServer
  readonly outgoing: Outgoing
}

/** Learns from responses which sessions exist, and opens a session again that the server has lost. */
export interface SessionTracker {
  /** Notes what the head of a response says about the session of its request, or about a new one. */
  learn(sent: Sent & { owner: SessionOwner }, status: number, headers: IncomingHttpHeaders): void
  /** Whether this status means that the server has lost a session that can be opened again. */
  isLost(sent: Sent, status: number): boolean
  /** False when the server does not take the session again. */
  openAgain(
    session: Session,
    outgoing: Pick<Outgoing, 'origin' | 'headers'> & { readonly sign: Sign | undefined },
    epoch: number,
  ): Promise<boolean>
}

export function createSessionTracker(options: {
  agent: Dispatcher
  log: Log
  sessions: Sessions
}): SessionTracker {
  const { agent, log, sessions } = options
  return {
    learn({ session, owner, server: { epoch }, outgoing }, status, headers) {
      if (session) {
        if (outgoing.method === 'DELETE' && (status < 300 || status === 404)) sessions.delete(session.id)
        else if (status < 300) {
          // A response of a server that has been replaced says nothing about the current one.
          session.epoch = Math.max(session.epoch, epoch)
          if (outgoing.method === 'GET') session.eventsLost = false
        }
        return
      }
      const id = headers['mcp-session-id']
      if (status !== 200 || typeof id !== 'string' || id === '') return
      sessions.add({ id, owner, epoch, opening: openingOf(outgoing) })
    },
    isLost({ session, server, outgoing }, status) {
      return (
        session?.opening !== undefined &&
        session.opening.path === pathOf(outgoing.path) &&
        // Some servers send 400 for an unknown session; after a restart that is what it means.
        (status === 404 || (status === 400 && session.epoch !== server.epoch)) &&
        outgoing.method !== 'DELETE'
      )
    },
    async openAgain(session, { origin, headers, sign }, epoch) {
      // Another request of the session may have opened it again while this one was in flight.
      const sent = sessionHeader(headers) ?? session.id
      if (session.epoch === epoch && session.backendId !== sent) return true
      const request = { origin, headers, sign, timeoutMs: REOPEN_TIMEOUT_MS }
      session.reopening ??= reopen(agent, session, request).then(opened => {
        session.reopening = undefined
        if (opened) {
          session.epoch = epoch
          session.eventsLost = true
          log.info('opened a session again after the server had lost it')
        }
        return opened
      })
      return session.reopening
    },
  }
}

/** The `initialize` that opened a session; undefined when the request was another, or is too long. */
function openingOf({ path, body }: Outgoing): Session['opening'] {
  if (!Buffer.isBuffer(body) || body.length > MAX_OPENING_BYTES || !body.includes('"initialize"'))
    return undefined
  // A copy, since a slice would keep the whole 64 KiB buffer of the connection.
  return { path: pathOf(path), body: Buffer.from(body) }
}

const pathOf = (path: string): string => path.split('?', 1)[0] as string

function sessionHeader(headers: readonly string[]): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() === 'mcp-session-id') return headers[i + 1]
  }
  return undefined
}
