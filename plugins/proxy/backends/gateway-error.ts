import { messageOf } from '../../../src/errors.ts'
import type { RequestId } from '../../../src/net/json-rpc.ts'
import { LATE_MESSAGE, SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import { ClientGone, Refusal, rpcRefusal, textRefusal, unavailable } from '../request-refusal.ts'

/** The server was disconnected before its response was complete. */
export class BackendGone extends Error {
  override readonly name = 'BackendGone'
}

/** The call has taken longer than a stage of the pipeline allows. */
export class CallTooLong extends Error {
  override readonly name = 'CallTooLong'
}

const UNREACHABLE = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** The error for a client whose request the server did not respond to. It names no address of the server. */
export function toGatewayError(error: unknown, id: RequestId | undefined): Error {
  if (error instanceof Refusal || error instanceof ClientGone) return error
  const code = codeOf(error)
  if (error instanceof BackendGone) {
    return unavailable(`The server went away: ${error.message}`, { id })
  }
  if (error instanceof CallTooLong) return rpcRefusal(504, SERVER_ERROR, LATE_MESSAGE, { id })
  if (UNREACHABLE.has(code)) {
    return unavailable('The server does not accept connections at the moment', { id })
  }
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return rpcRefusal(504, SERVER_ERROR, 'Timeout', { id })
  if (code === 'UND_ERR_INVALID_ARG') {
    return textRefusal(400, `The request cannot be forwarded: ${messageOf(error)}`)
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return rpcRefusal(502, SERVER_ERROR, "The server's host name cannot be resolved", { id })
  }
  return rpcRefusal(502, SERVER_ERROR, `The server broke off or sent no valid HTTP (${code || 'unknown'})`, {
    id,
  })
}
