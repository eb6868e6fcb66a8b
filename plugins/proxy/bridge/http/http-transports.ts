import type { IncomingMessage } from 'node:http'
import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { INVALID_REQUEST } from '../../../../src/net/rpc-error-codes.ts'
import { isEndpoint } from '../../http-sse.ts'
import { rpcRefusal } from '../../request-refusal.ts'
import type { BridgedServer } from '../bridged-server.ts'
import type { MessageRouter } from '../message-router.ts'
import { createSse } from './sse-transport.ts'
import { createStreamableHttp } from './streamable-http-transport.ts'

/** Both HTTP transports over one message router. */
export function createHttpTransports(
  router: MessageRouter,
  options: {
    isOverSse: (exchange: Exchange) => boolean
    /** Origin and prefix under which clients reach us, for the `endpoint` event of HTTP+SSE. */
    publicBase: (request: IncomingMessage) => string
  },
): BridgedServer['handle'] {
  const sse = createSse(router, options.publicBase)
  const streamable = createStreamableHttp(router)
  return async (exchange, rewriting) => {
    if (options.isOverSse(exchange)) return sse(exchange, rewriting)
    if (isEndpoint(exchange.url)) return streamable(exchange, rewriting)
    throw rpcRefusal(404, INVALID_REQUEST, 'MCP is at /mcp')
  }
}
