import type { Exchange } from '../../src/contracts/pipeline.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { isRequest, type RequestId } from '../../src/net/json-rpc.ts'
import { INTERNAL_ERROR, SERVER_ERROR } from '../../src/net/rpc-error-codes.ts'
import { sendOwnResponse } from './own-response.ts'
import { ClientGone, Refusal, rpcRefusal } from './request-refusal.ts'

/** The id of the exchange's request, as far as its body has been read (or is small enough to be). */
export async function requestId(exchange: Exchange): Promise<RequestId | undefined> {
  if (exchange.request.method !== 'POST') return undefined
  // Whoever asks refuses the request already: a body that cannot be read has no id.
  const message = await exchange.message().catch(() => undefined)
  return isRequest(message) ? message.id : undefined
}

/** Ends an exchange whose handling threw. A bug is logged with its stack; the client gets `Internal error`. */
export function sendRefusal(exchange: Exchange, error: unknown, log: Log): void {
  const { request, response } = exchange
  if (error instanceof ClientGone || response.destroyed) {
    response.destroy()
    return
  }
  if (response.headersSent) {
    // Too late for a status: only a broken stream shows that the response is incomplete.
    log.debug('a response broke off', { url: request.url, error: messageOf(error) })
    response.destroy()
    return
  }
  const refusal = toRefusal(error)
  if (!refusal) {
    log.error('internal error in the proxy', {
      error: messageOf(error),
      stack: error instanceof Error ? error.stack : undefined,
    })
  }
  sendOwnResponse(exchange, refusal ?? rpcRefusal(500, INTERNAL_ERROR, 'Internal error'))
}

function toRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error
  if (isFailure(error)) return rpcRefusal(error.status, SERVER_ERROR, error.message)
  return undefined
}
