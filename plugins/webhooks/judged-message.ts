import type { Exchange } from '../../src/contracts/pipeline.ts'
import { INVALID_REQUEST } from '../../src/net/rpc-error-codes.ts'
import { type Message, type Notification, type Request, readMessage } from '../../src/net/rpc-message.ts'
import { hasBody, rpcRefusal } from '../proxy/index.ts'

/** What webhooks are asked about. */
export type JudgedMessage = Request | Notification

/** Most bytes of a message that webhooks are asked about. */
export const MAX_MESSAGE_BYTES = 1024 * 1024
const TOO_LARGE = 413

/**
 * The request or notification in a body; undefined for the response of a client, which calls nothing, and where nothing
 * is sent. A body that is not one JSON-RPC message is refused (400), one that is too large, too (413): a server that
 * reads it more leniently would take what no webhook has seen.
 */
export async function judgedMessage(exchange: Exchange): Promise<JudgedMessage | undefined> {
  const { request } = exchange
  if (request.method !== 'POST' && !hasBody(request)) return undefined
  const text = await exchange.rawText()
  const message = text === undefined ? undefined : readMessage(text)
  if (!message) throw rpcRefusal(400, INVALID_REQUEST, 'The body is not one JSON-RPC message')
  if (message.text.length > MAX_MESSAGE_BYTES) {
    const text = `Messages have at most ${MAX_MESSAGE_BYTES} bytes here`
    throw rpcRefusal(TOO_LARGE, TOO_LARGE, text, { idText: idTextOf(message) })
  }
  return message.kind === 'response' ? undefined : message
}

/** The id as the client wrote it; undefined where there is none. */
export const idTextOf = (message: Message): string | undefined =>
  message.kind === 'request' ? message.idText : undefined
