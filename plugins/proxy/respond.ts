import type { Exchange } from '../../src/contracts/pipeline.ts'
import { formatSse } from '../../src/net/sse.ts'
import { sendOwnResponse } from './own-response.ts'

/** Sends a JSON-RPC response of ours (raw text) over streamable HTTP: as JSON, or as an event where only that is taken. */
export function respond(exchange: Exchange, text: string): void {
  const accept = exchange.request.headers.accept ?? '*/*'
  const asEvent = /\bevent-stream\b/i.test(accept) && !/\bjson\b|\*\/\*|application\/\*/i.test(accept)
  sendOwnResponse(exchange, {
    status: 200,
    contentType: asEvent ? 'text/event-stream' : 'application/json',
    body: Buffer.from(asEvent ? formatSse({ event: 'message', data: text }) : text, 'latin1'),
    headers: {},
  })
}

/** The response to a message of HTTP+SSE, whose response comes on the event stream. */
export function accept(exchange: Exchange): void {
  const body = Buffer.from('Accepted')
  sendOwnResponse(exchange, { status: 202, contentType: 'text/plain', body, headers: {} })
}
