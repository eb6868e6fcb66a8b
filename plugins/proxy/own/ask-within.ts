import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Exchange, Handler, MiddlewareContext } from '../../../src/contracts/pipeline.ts'
import { toFieldValue } from '../../../src/net/mcp-name.ts'
import { METHOD_NOT_FOUND } from '../../../src/net/rpc-error-codes.ts'
import { errorText, type Message, param, type Request, readMessage } from '../../../src/net/rpc-message.ts'
import { isEventStream, readRawSse } from '../../../src/net/sse.ts'

/** The most that one message of a response may hold. */
const MAX_BYTES = 64 * 2 ** 20

/** Headers of the client that say something of its own message, or of its connection. */
const OF_THE_MESSAGE =
  /^(?:mcp-(?:method|name|param-.*)|content-.*|transfer-encoding|accept(?:-encoding)?|connection|keep-alive|expect|last-event-id)$/

/**
 * As `MiddlewareContext.askWithin`. The requests reach the pipeline over streams in this process, so nobody else can send
 * such requests; who called was decided for the exchange around them.
 */
export function createAskWithin(options: {
  /** The stages that such a request passes. */
  pipeline: Handler
  toListener: (handler: Handler) => RequestListener
  isOverSse: (exchange: Exchange) => boolean
}): MiddlewareContext['askWithin'] {
  const outers = new WeakMap<Duplex, Exchange>()
  let made: Server | undefined

  function handle(exchange: Exchange): void | Promise<void> {
    const outer = outers.get(exchange.request.socket)
    return options.pipeline(
      Object.assign(exchange, { outer, caller: outer?.caller, resourceMetadata: outer?.resourceMetadata }),
    )
  }

  function connect(outer: Exchange): Duplex {
    made ??= createServer(options.toListener(handle))
    const [near, far] = duplexPair()
    const { remoteAddress } = outer.request.socket
    outers.set(Object.assign(far, { remoteAddress }), outer)
    made.emit('connection', far)
    return near
  }

  function post(outer: Exchange, text: string, signal?: AbortSignal): Promise<IncomingMessage> {
    const body = Buffer.from(text, 'latin1')
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const sent = request({
      method: 'POST',
      path: outer.url,
      headers: { ...headersFor(outer, readMessage(text)), 'content-length': body.length },
      createConnection: () => connect(outer),
      ...(signal ? { signal } : {}),
    })
    sent.on('response', resolve)
    sent.on('error', reject)
    sent.end(body)
    return promise
  }

  /** Sends what gets no response. What becomes of it does not matter. */
  function tell(outer: Exchange, text: string): void {
    post(outer, text).then(
      response => response.resume(),
      () => undefined,
    )
  }

  async function fromEvents(outer: Exchange, response: IncomingMessage): Promise<string | undefined> {
    for await (const { data } of readRawSse(response, { maxBytes: MAX_BYTES })) {
      const message = data === undefined ? undefined : readMessage(data)
      if (message?.kind === 'response') return message.text
      if (message?.kind === 'request')
        tell(outer, errorText(message.idText, METHOD_NOT_FOUND, 'Nobody can be asked here'))
    }
    return undefined
  }

  return async (outer, text, { signal }) => {
    if (options.isOverSse(outer)) throw new Error('the client uses HTTP+SSE; this needs streamable HTTP')
    const { idText } = readMessage(text) as Request
    const cancel = () =>
      tell(outer, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${idText}}}`)
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const response = await post(outer, text, signal)
      const answer = isEventStream(response.headers['content-type'])
        ? await fromEvents(outer, response)
        : (await buffer(response)).toString('latin1')
      if (answer === undefined || !readMessage(answer))
        throw new Error(`the request returned status ${response.statusCode}`)
      return answer
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}

/** The headers of the client, and those that say what the message says (MCP 2026-07-28). */
function headersFor(outer: Exchange, message: Message | undefined): Record<string, string | string[]> {
  const { headers } = outer.request
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] => entry[1] !== undefined && !OF_THE_MESSAGE.test(entry[0]),
  )
  const isModern = headers['mcp-method'] !== undefined && message !== undefined && 'method' in message
  const name = isModern ? param(message, 'name') : undefined
  return {
    ...Object.fromEntries(kept),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    connection: 'close',
    ...(isModern ? { 'mcp-method': toFieldValue(message.method) } : {}),
    ...(typeof name === 'string' ? { 'mcp-name': toFieldValue(name) } : {}),
  }
}
