import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { memberValue } from '../../../../src/lib/raw-json.ts'
import { type Request, resultText } from '../../../../src/net/rpc-message.ts'
import { formatSse } from '../../../../src/net/sse.ts'
import { allSessionsTaken } from '../../request-refusal.ts'
import type { Rewriting } from '../../rewrite/rewriting.ts'
import { ownerOf } from '../../session-owner.ts'
import type { MessageRouter } from '../message-router.ts'
import { EVENT_STREAM_HEADERS } from './event-stream.ts'
import { busyRefusal, failureText, sendJson } from './http-reply.ts'
import { accepts } from './mcp-headers.ts'
import { readInitialize } from './read-initialize.ts'
import { SESSION_HEADER } from './streamable-sessions.ts'

/** Responds to `initialize` of streamable HTTP, which opens a session. */
export async function initialize(
  router: MessageRouter,
  options: { message: Request; exchange: Exchange; rewriting: Rewriting | undefined },
): Promise<void> {
  const { message, exchange, rewriting } = options
  const { request, response } = exchange
  const { paramsText, capabilities } = readInitialize(message)
  const { answer, metadata } = await router.initialize(paramsText)
  if (response.destroyed) return
  const { idText } = message
  if (answer.kind === 'failed') {
    if (answer.failure === 'overload') throw busyRefusal(idText)
    return sendJson(response, answer.failure === 'timeout' ? 504 : 502, failureText(idText, answer.failure))
  }
  if (answer.kind === 'error') {
    return send(request, response, `{"jsonrpc":"2.0","id":${idText},"error":${answer.text}}`)
  }
  const session = router.openSession({
    capabilities,
    version: String(memberValue(answer.text, 'protocolVersion') ?? ''),
    metadata,
    owner: ownerOf(exchange),
    holder: router.holderOf(exchange),
    over: 'streamable-http',
  })
  if (!session) {
    throw allSessionsTaken({ idText })
  }
  const result = resultText(idText, answer.text)
  const text = rewriting ? await rewriting.text(result) : result
  send(request, response, text, { [SESSION_HEADER]: session.id })
}

/** Sends a single response: as JSON, or as an event where only that is taken. */
function send(
  request: IncomingMessage,
  response: ServerResponse,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (accepts(request, 'application/json')) {
    sendJson(response, 200, text, headers)
    return
  }
  response.writeHead(200, { ...EVENT_STREAM_HEADERS, ...headers })
  response.end(formatSse({ event: 'message', data: text }), 'latin1')
}
