import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { INVALID_REQUEST } from '../../../../src/net/rpc-error-codes.ts'
import { rpcRefusal } from '../../request-refusal.ts'
import type { Rewriting } from '../../rewrite/rewriting.ts'
import type { MessageRouter } from '../message-router.ts'
import { EVENT_STREAM_HEADERS } from './event-stream.ts'
import { sendEmpty } from './http-reply.ts'
import { assertKnownVersion, assertTakesEvents, header, takesPriming } from './mcp-headers.ts'
import { createStreamablePost } from './streamable-post.ts'
import { needSession } from './streamable-sessions.ts'

/** Streamable HTTP (MCP 2025-03-26 to 2025-11-25; 2026-07-28 where the server speaks it) over the message router. */
export function createStreamableHttp(
  router: MessageRouter,
): (exchange: Exchange, rewriting?: Rewriting) => Promise<void> {
  const post = createStreamablePost(router)

  function get(exchange: Exchange): void {
    const { request, response } = exchange
    assertTakesEvents(request)
    const session = needSession(router, exchange)
    const writeHead = () => {
      response.writeHead(200, EVENT_STREAM_HEADERS)
      response.flushHeaders()
    }
    const prime = takesPriming(request)
    const lastEventId = header(request, 'last-event-id')
    if (lastEventId === undefined || lastEventId === '') {
      writeHead()
      session.outbox.open(response, { prime })
      return
    }
    const outcome = session.outbox.resume(response, lastEventId, { writeHead, prime })
    // 204 makes a client stop reconnecting (WHATWG HTML, server-sent events).
    if (outcome === 'complete') sendEmpty(response, 204)
    else if (outcome === 'unknown') {
      throw rpcRefusal(400, INVALID_REQUEST, 'The event id is unknown or too old to resume from')
    }
  }

  function remove(exchange: Exchange): void {
    const session = needSession(router, exchange)
    router.sessions.close(session, 'the client ended the session')
    sendEmpty(exchange.response, 204)
  }

  return async (exchange, rewriting) => {
    if (exchange.request.method !== 'POST') assertKnownVersion(exchange.request)
    switch (exchange.request.method) {
      case 'POST':
        return post(exchange, rewriting)
      case 'GET':
        return get(exchange)
      case 'DELETE':
        return remove(exchange)
      default:
        throw rpcRefusal(405, INVALID_REQUEST, 'Method not allowed', {
          headers: { allow: 'GET, POST, DELETE' },
        })
    }
  }
}
