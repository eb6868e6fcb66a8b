import { parseRaw } from '../../../../src/lib/raw-json.ts'
import { type Notification, type Response, readMessage } from '../../../../src/net/rpc-message.ts'
import { MODERN_VERSION } from '../../eras/discover-result.ts'
import { legacyCapabilities } from '../../eras/initialize-params.ts'
import type { ClientFacts } from '../../eras/modern-meta.ts'
import type { SessionOwner } from '../../session-owner.ts'
import { type Session, toCapabilities } from '../clients/client-sessions.ts'
import type { MessageRouter } from '../message-router.ts'
import { createModernClient, type ModernClient } from './modern-client.ts'

/** The sessions at a server of the era of sessions whose clients have none themselves. */
export interface ModernSessions {
  /** The session of the client; opened when it has none. Undefined when all sessions are in use. */
  of(caller: { owner: SessionOwner; holder: string }, facts: ClientFacts): ModernSession | undefined
}

export interface ModernSession {
  readonly session: Session
  readonly client: ModernClient
}

/** The most sessions that are kept while their clients have nothing open. */
const MAX_IDLE = 1000

/** A session begins with it (MCP 2025-11-25, lifecycle). The server gets the first one. */
const INITIALIZED = readMessage('{"jsonrpc":"2.0","method":"notifications/initialized"}') as Notification

/**
 * Requests that come from the same caller and name the same client and capabilities are of one client: the protocol
 * has nothing else that tells clients apart.
 */
export function createModernSessions(router: MessageRouter): ModernSessions {
  /** Least recently used first. */
  const byClient = new Map<string, ModernSession>()

  function open(
    caller: { owner: SessionOwner; holder: string },
    facts: ClientFacts,
  ): ModernSession | undefined {
    const client = createModernClient(text => router.messages.respond(readMessage(text) as Response, session))
    const session = router.openSession({
      capabilities: toCapabilities(parseRaw(legacyCapabilities(facts))),
      version: MODERN_VERSION,
      ...caller,
      over: undefined,
      outbox: client.outbox,
    })
    if (!session) return undefined
    router.messages.notify(INITIALIZED, session)
    return { session, client }
  }

  function closeIdle(): void {
    for (const [key, { session }] of byClient) {
      if (byClient.size < MAX_IDLE) return
      if (session.calls.size > 0 || session.outbox.connected) continue
      byClient.delete(key)
      router.sessions.close(session, 'other clients came')
    }
  }

  return {
    of(caller, facts) {
      const key = JSON.stringify([caller.owner ?? null, facts.infoText ?? null, facts.capabilitiesText])
      const known = byClient.get(key)
      byClient.delete(key)
      if (!known || known.session.closed) closeIdle()
      const found = known && !known.session.closed ? known : open(caller, facts)
      if (!found) return undefined
      found.session.lastSeen = router.now()
      byClient.set(key, found)
      return found
    },
  }
}
