import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { createModernHeaders } from '../../../src/net/modern-headers.ts'
import { HEADER_MISMATCH, METHOD_NOT_FOUND, SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  idKey,
  type Notification,
  paramText,
  type Request,
  readMessage,
} from '../../../src/net/rpc-message.ts'
import type { ServerLink } from '../bridge/server/server-link.ts'
import { withCallHint } from '../eras/call-hint.ts'
import { MODERN_VERSION } from '../eras/discover-result.ts'
import type { ServerResponse } from '../translated-http/dispatch.ts'
import { createMessageLink } from '../translated-http/message-link.ts'
import { type LoginWanted, linesIn } from '../translated-http/response-lines.ts'
import type { SendForClient } from '../translated-http/send-for-caller.ts'
import { learnHeaders } from './learn-headers.ts'
import { readRefusal } from './read-refusal.ts'

const CANCELLED = 'notifications/cancelled'
/** The header `Mcp-Method` has no encoding for other characters. */
const METHOD = /^[\x21-\x7e]+$/

/**
 * An HTTP server of MCP 2026-07-28 as a link: each request is a POST. It is sent once, as nobody knows what became of it
 * when the connection breaks.
 *
 * @param options.onLoginWanted called with the id of the request that was refused; true when that is dealt with
 */
export function openStatelessLink(options: {
  send: SendForClient
  maxBytes: number
  log: Log
  onLoginWanted: (wanted: LoginWanted, idText: string) => boolean
}): ServerLink {
  const { send, maxBytes, log, onLoginWanted } = options
  const running = new Map<string, AbortController>()
  const headers = createModernHeaders()

  const onInvalid = (tool: string, problem: string) =>
    log.debug('a tool is left out, because its x-mcp-header is not valid', { tool, problem })

  const post = (request: Request, signal: AbortSignal) =>
    send({
      method: 'POST',
      headers: headers.of(request, MODERN_VERSION),
      body: Buffer.from(request.text, 'latin1'),
      signal,
      isRepeatable: request.method === 'server/discover',
    })

  async function exchange(request: Request, signal: AbortSignal, isAgain = false): Promise<void> {
    const response = await post(request, signal)
    const { statusCode } = response
    if (statusCode >= 200 && statusCode <= 299) return pass(response, request)
    const { error, code, wanted } = await readRefusal(response, request)
    if (wanted && onLoginWanted(wanted, request.idText)) return
    if (code === HEADER_MISMATCH && request.method === 'tools/call' && !isAgain) {
      // It has executed nothing: headers are compared first (MCP 2026-07-28, client behavior for custom headers).
      await learnHeaders({ headers, maxBytes, post: request => post(request, signal) })
      return exchange(request, signal, true)
    }
    if (error === undefined) throw new Error(`it returned status ${statusCode}`)
    await server.emit(error)
  }

  async function pass(response: ServerResponse, request: Request): Promise<void> {
    for await (const { text } of linesIn(response, { maxBytes })) {
      const message = text === undefined ? undefined : readMessage(text)
      // A server of this revision sends no requests, and responds to nothing but the request of the POST.
      if (message?.kind === 'notification') await server.emit(textOf(message, request))
      if (message?.kind !== 'response' || message.idText !== request.idText) continue
      if (request.method === 'tools/list') return server.emit(headers.learn(message.text, onInvalid))
      return server.emit(message.text, message)
    }
    throw new Error('its response ended early')
  }

  async function call(request: Request): Promise<void> {
    const { idText, method } = request
    if (!METHOD.test(method)) {
      return server.emit(errorText(idText, METHOD_NOT_FOUND, 'The server has no such method'))
    }
    const abort = new AbortController()
    running.set(idKey(idText), abort)
    try {
      await exchange(request, abort.signal)
    } catch (error) {
      if (abort.signal.aborted) return
      log.debug('a request to the server failed', { error: messageOf(error) })
      await server.emit(errorText(idText, SERVER_ERROR, `The server did not respond: ${messageOf(error)}`))
    } finally {
      running.delete(idKey(idText))
    }
  }

  /** The end of the connection is what cancels a request (MCP 2026-07-28, streamable HTTP). */
  function cancel(message: Notification): void {
    running.get(idKey(paramText(message, 'requestId') ?? '""'))?.abort()
  }

  const server = createMessageLink({
    onMessage(message) {
      if (message.kind === 'request') return call(message)
      // The revision has no other notification of clients over HTTP, and no responses.
      if (message.kind === 'notification' && message.method === CANCELLED) cancel(message)
      return undefined
    },
    onClose() {
      for (const call of running.values()) call.abort()
    },
  })
  return server.link
}

/** All other notifications name what they belong to. */
const textOf = (message: Notification, { idText }: Request): string =>
  message.method === 'notifications/message' ? withCallHint(message, idText) : message.text
