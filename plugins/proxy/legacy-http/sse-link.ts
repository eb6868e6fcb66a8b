import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import { errorText, type Message, onOneLine } from '../../../src/net/rpc-message.ts'
import { readRawSse } from '../../../src/net/sse.ts'
import type { TargetPath } from '../backends/target-path.ts'
import type { ServerLink } from '../bridge/server/server-link.ts'
import type { ServerResponse } from '../translated-http/dispatch.ts'
import { createMessageLink } from '../translated-http/message-link.ts'
import { errorBody, type LoginWanted, loginWanted } from '../translated-http/response-lines.ts'
import type { SendForClient } from '../translated-http/send-for-caller.ts'

/** A session of a server of HTTP+SSE (MCP 2024-11-05) as a link: each message is a POST, each event a message. */
export function openSseLink(options: {
  target: TargetPath
  send: SendForClient
  maxBytes: number
  log: Log
  onLoginWanted: (wanted: LoginWanted) => void
}): ServerLink {
  const { target, send, maxBytes, log, onLoginWanted } = options
  const closing = new AbortController()
  const { signal } = closing
  const endpoint = Promise.withResolvers<string>()
  endpoint.promise.catch(() => undefined) // every message waits for it
  let order: Promise<void> = endpoint.promise.then(() => undefined)

  async function read(): Promise<void> {
    const response = await send({ method: 'GET', url: '/sse', headers: {}, signal })
    if (response.statusCode !== 200) return refused(response)
    for await (const { type, data } of readRawSse(response.body, { maxBytes })) {
      if (type === 'endpoint' && data) endpoint.resolve(target.publicPath(endpointPath(data, target)))
      else if (data?.trim()) await server.emit(onOneLine(data))
    }
    throw new Error('its stream ended')
  }

  async function refused(response: ServerResponse): Promise<never> {
    const wanted = loginWanted(response, await errorBody(response))
    if (wanted) onLoginWanted(wanted)
    throw new Error(`it returned status ${response.statusCode}`)
  }

  async function post(message: Message): Promise<void> {
    try {
      const url = await endpoint.promise
      const body = Buffer.from(message.text, 'latin1')
      const response = await send({ method: 'POST', url, headers: {}, body, signal })
      if (response.statusCode > 299) await refused(response)
      await response.body.dump()
    } catch (error) {
      if (signal.aborted) return
      log.debug('a message did not reach the server', { error: messageOf(error) })
      if (message.kind === 'request') {
        await server.emit(
          errorText(message.idText, SERVER_ERROR, `The server did not respond: ${messageOf(error)}`),
        )
      }
    }
  }

  const server = createMessageLink({
    onMessage(message) {
      // The POST returns before the response, so that this order costs no call its turn.
      order = order.catch(() => undefined).then(() => post(message))
      return order
    },
    onClose: () => closing.abort(),
  })
  read().catch((error: unknown) => {
    endpoint.reject(error)
    if (!signal.aborted) server.end(messageOf(error))
  })
  return server.link
}

/** Path and query of an announced endpoint. Its host does not count: no other one gets the credentials. */
function endpointPath(endpoint: string, target: TargetPath): string {
  const url = URL.parse(endpoint.trim(), `${target.origin}${target.pathFor('/sse')}`)
  if (!url) throw new Error('its endpoint is not a URL')
  return url.pathname + url.search
}
