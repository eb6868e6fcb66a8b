import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { INVALID_REQUEST } from '../../../../src/net/rpc-error-codes.ts'
import { rpcRefusal, sessionNotFound } from '../../request-refusal.ts'
import { ownerOf } from '../../session-owner.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { MessageRouter } from '../message-router.ts'
import { header } from './mcp-headers.ts'

export const SESSION_HEADER = 'mcp-session-id'

/** The session that a request names; undefined when it names none. An unknown one is refused. */
export function findSession(router: MessageRouter, exchange: Exchange, idText?: string): Session | undefined {
  const id = header(exchange.request, SESSION_HEADER)
  if (id === undefined) return undefined
  const session = router.sessions.find(id, { owner: ownerOf(exchange), over: 'streamable-http' })
  if (!session) throw sessionNotFound({ idText })
  return session
}

/** The session that a request names. A request that names none is refused with 400. */
export function needSession(router: MessageRouter, exchange: Exchange): Session {
  const session = findSession(router, exchange)
  if (!session) throw rpcRefusal(400, INVALID_REQUEST, 'The Mcp-Session-Id header is missing')
  return session
}
