import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  idKey,
  type Message,
  paramText,
  type Request,
  readMessage,
} from '../../../src/net/rpc-message.ts'
import type { ServerLink } from '../bridge/server/server-link.ts'
import { withCallHint } from '../eras/call-hint.ts'
import type { ServerResponse } from '../translated-http/dispatch.ts'
import { createMessageLink } from '../translated-http/message-link.ts'
import { errorBody, type LoginWanted, linesIn, loginWanted } from '../translated-http/response-lines.ts'
import type { SendForClient } from '../translated-http/send-for-caller.ts'
import { createLegacySession } from './legacy-session.ts'

const CANCELLED = 'notifications/cancelled'
/** How long a stream that the server ended waits before it is opened again, where the server does not say. */
const RETRY_MS = 1000
/** The shortest time that a server may choose, which could otherwise keep the proxy busy. */
const MIN_RETRY_MS = 100
const END_SESSION_MS = 1000

/** What has to be done at the server before what follows is sent: there is no order between two POSTs. */
const IN_ORDER = /^(?:initialize|notifications\/initialized|logging\/setLevel|resources\/(?:un)?subscribe)$/

/**
 * A session of a server of streamable HTTP (MCP 2025-03-26 to 2025-11-25) as a link: each message is a POST, and the
 * server's messages come in responses or on the stream of the session.
 *
 * It is long because all of it works on the one session.
 */
export function openStreamableLink(options: {
  send: SendForClient
  maxBytes: number
  log: Log
  /** Whether messages say which call they belong to (`withCallHint`). */
  hasHints: boolean
  onLoginWanted: (wanted: LoginWanted) => void
}): ServerLink {
  const { send, maxBytes, log, hasHints, onLoginWanted } = options
  const closing = new AbortController()
  const running = new Map<string, AbortController>()
  let settled: Promise<void> = Promise.resolve()
  /** Counts the streams of the session; only the newest is opened again. */
  let streams = 0

  const post = (
    text: string,
    headers: Readonly<Record<string, string>>,
    { signal = closing.signal, isFirst = false } = {},
  ) => send({ method: 'POST', headers, body: Buffer.from(text, 'latin1'), signal, isRepeatable: isFirst })
  const session = createLegacySession({ maxBytes, post, onRenewed: () => void listen() })

  /** Sends a message in the session, and once more in a new one when the server has lost it. */
  async function postInSession(text: string, signal = closing.signal): Promise<ServerResponse> {
    const { id } = session
    const response = await post(text, session.headers, { signal })
    if (response.statusCode !== 404 || id === undefined) return response
    await response.body.dump()
    await session.renew(id)
    return post(text, session.headers, { signal })
  }

  /** Passes on the messages of a response; true when the response to the request was among them. */
  async function pass(response: ServerResponse, request: Request, last: { id?: string; retry?: number }) {
    let isDone = false
    for await (const { text, id, retry } of linesIn(response, { maxBytes })) {
      if (id !== undefined) last.id = id
      if (retry !== undefined) last.retry = retry
      const message = text === undefined ? undefined : readMessage(text)
      if (message?.kind === 'response' && message.idText === request.idText) {
        isDone = true
        if (request.method === 'initialize') session.agreed(message)
      }
      if (hasHints && message && message.kind !== 'response')
        await server.emit(withCallHint(message, request.idText))
      else if (text !== undefined) await server.emit(text, message)
    }
    return isDone
  }

  async function exchange(request: Request, signal: AbortSignal): Promise<void> {
    const isFirst = request.method === 'initialize'
    const response = await (isFirst
      ? post(request.text, {}, { signal, isFirst })
      : postInSession(request.text, signal))
    const { statusCode } = response
    if (statusCode < 200 || statusCode > 299) return refused(response, request)
    if (isFirst) session.opened(response)
    session.note(request)
    const last: { id?: string; retry?: number } = {}
    let isDone = await pass(response, request, last)
    // A server may end the stream of a call that goes on, and be asked again (MCP 2025-11-25, transports).
    while (!isDone && last.id !== undefined) {
      await delay(Math.max(last.retry ?? RETRY_MS, MIN_RETRY_MS), undefined, { signal })
      const headers = { ...session.headers, 'last-event-id': last.id }
      const resumed = await send({ method: 'GET', headers, signal })
      if (resumed.statusCode !== 200)
        throw new Error(`its stream could not be resumed (${resumed.statusCode})`)
      isDone = await pass(resumed, request, last)
    }
    if (!isDone) throw new Error('its response ended early')
  }

  async function refused(response: ServerResponse, request: Request): Promise<void> {
    const body = await errorBody(response)
    const wanted = loginWanted(response, body)
    if (wanted) onLoginWanted(wanted)
    const message = readMessage(body)
    const isError = message?.kind === 'response' && message.error && message.idText === request.idText
    if (!isError) throw new Error(`it returned status ${response.statusCode}`)
    await server.emit(message.text, message)
  }

  async function call(request: Request, before: Promise<void>): Promise<void> {
    const abort = new AbortController()
    const key = idKey(request.idText)
    running.set(key, abort)
    try {
      await before
      if (closing.signal.aborted) return
      await exchange(request, abort.signal)
    } catch (error) {
      if (abort.signal.aborted) return
      log.debug('a request to the server failed', { error: messageOf(error) })
      await server.emit(
        errorText(request.idText, SERVER_ERROR, `The server did not respond: ${messageOf(error)}`),
      )
    } finally {
      running.delete(key)
    }
  }

  /** Sends what has no response. */
  async function tell(message: Message, before: Promise<void>): Promise<void> {
    try {
      await before
      const response = await postInSession(message.text)
      await response.body.dump()
      if (response.statusCode > 299)
        log.debug('the server did not take a message', { status: response.statusCode })
    } catch (error) {
      if (!closing.signal.aborted)
        log.debug('a message did not reach the server', { error: messageOf(error) })
    }
    if (message.kind !== 'notification') return
    if (message.method === 'notifications/initialized') void listen()
    if (message.method !== CANCELLED) return
    // The server needs no stream for the response any more.
    running.get(idKey(paramText(message, 'requestId') ?? '""'))?.abort()
  }

  /** Reads the stream of the session, where the server has one, for as long as the session lasts. */
  async function listen(): Promise<void> {
    let last: string | undefined
    let retry = RETRY_MS
    streams += 1
    const own = streams
    try {
      while (own === streams) {
        const headers = { ...session.headers, ...(last === undefined ? {} : { 'last-event-id': last }) }
        const response = await send({ method: 'GET', headers, signal: closing.signal })
        if (response.statusCode !== 200) return void (await response.body.dump())
        for await (const line of linesIn(response, { maxBytes })) {
          last = line.id ?? last
          retry = line.retry ?? retry
          if (line.text !== undefined) await server.emit(line.text)
        }
        await delay(Math.max(retry, MIN_RETRY_MS), undefined, { signal: closing.signal })
      }
    } catch (error) {
      if (!closing.signal.aborted) log.debug('the stream of a session broke', { error: messageOf(error) })
    }
  }

  async function end(): Promise<void> {
    const signal = AbortSignal.timeout(END_SESSION_MS)
    const { id, headers } = session
    for (const call of [closing, ...running.values()]) call.abort()
    if (id === undefined) return
    // A server that does not end the session is left alone.
    await send({ method: 'DELETE', headers, signal }).then(
      ({ body }) => body.dump(),
      () => undefined,
    )
  }

  const server = createMessageLink({
    onMessage(message) {
      if (message.kind === 'response' || message.method === CANCELLED) return tell(message, Promise.resolve())
      const sent = message.kind === 'request' ? call(message, settled) : tell(message, settled)
      if (IN_ORDER.test(message.method)) settled = sent
      return sent
    },
    onClose: () => void end(),
  })
  return server.link
}
