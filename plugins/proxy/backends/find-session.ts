import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { isRequest } from '../../../src/net/json-rpc.ts'
import type { Session, Sessions } from '../http-sessions.ts'
import { announcedLength, SMALL_BODY_BYTES } from '../request-body.ts'
import { sessionNotFound } from '../request-refusal.ts'
import { revisionOf } from '../revisions/index.ts'
import { requestId } from '../send-refusal.ts'
import { ownerOf } from '../session-owner.ts'

/** Whether a request belongs to a session, or opens one itself in spite of the session header it carries. */
export interface Admission {
  readonly session: Session | undefined
  /** The client's session header must not reach the server: the request opens a session itself. */
  readonly stripSession: boolean
}

const NO_SESSION: Admission = { session: undefined, stripSession: false }

/** Finds the session of a request; a promise only where it names one. An unknown session is refused (404). */
export function admit(exchange: Exchange, sessions: Sessions): Admission | Promise<Admission> {
  const { headers } = exchange.request
  const id = headers['mcp-session-id']
  if (typeof id !== 'string') return NO_SESSION
  if (revisionOf(headers['mcp-protocol-version']).sessions) return admitNamed(exchange, id, sessions)
  // A server that ignores the revision would find the session, which may be somebody else's.
  return exchange.caller ? { session: undefined, stripSession: true } : NO_SESSION
}

async function admitNamed(exchange: Exchange, id: string, sessions: Sessions): Promise<Admission> {
  const { method } = exchange.request
  const session = sessions.find(id, ownerOf(exchange))
  const opens = method === 'POST' && (!session || isSmall(exchange)) && (await initializes(exchange))
  if (opens) return { session: undefined, stripSession: true }
  if (!session) throw sessionNotFound({ id: await requestId(exchange) })
  return { session, stripSession: false }
}

/** A large body is not an `initialize`, and reading it to find out would stop it from streaming. */
const isSmall = (exchange: Exchange): boolean =>
  (announcedLength(exchange.request) ?? SMALL_BODY_BYTES + 1) <= SMALL_BODY_BYTES

async function initializes(exchange: Exchange): Promise<boolean> {
  // Looking for the bytes first spares parsing every other request.
  if (!(await exchange.body()).includes('"initialize"')) return false
  const message = await exchange.message()
  return isRequest(message) && message.method === 'initialize'
}

/** Whether a request is an `initialize` of usual length. */
export const isInitialize = async (exchange: Exchange): Promise<boolean> =>
  exchange.request.method === 'POST' && isSmall(exchange) && (await initializes(exchange))
