import type { IncomingMessage } from 'node:http'
import { INVALID_REQUEST } from '../../../src/net/rpc-error-codes.ts'
import { rpcRefusal, sessionNotFound } from '../request-refusal.ts'
import type { Session } from './client-sessions.ts'
import { header } from './mcp-headers.ts'
import type { MessageRouter } from './message-router.ts'

export const SESSION_HEADER = 'mcp-session-id'

/** The session that a request names; undefined when it names none. An unknown one is refused. */
export function findSession(
  router: MessageRouter,
  request: IncomingMessage,
  idText?: string,
): Session | undefined {
  const id = header(request, SESSION_HEADER)
  if (id === undefined) return undefined
  const session = router.sessions.find(id)
  if (!session) throw sessionNotFound({ idText })
  return session
}

/** The session that a request names. A request that names none is refused with 400. */
export function needSession(router: MessageRouter, request: IncomingMessage): Session {
  const session = findSession(router, request)
  if (!session) throw rpcRefusal(400, INVALID_REQUEST, 'The Mcp-Session-Id header is missing')
  return session
}
