import type { IncomingMessage } from 'node:http'
import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../../../../src/net/rpc-error-codes.ts'
import { type Request, resultText } from '../../../../src/net/rpc-message.ts'
import { formatSse } from '../../../../src/net/sse.ts'
import { untilAvailable } from '../../availability.ts'
import { isMessage } from '../../http-sse.ts'
import { allSessionsTaken, rpcRefusal, sessionNotFound } from '../../request-refusal.ts'
import type { Rewriting } from '../../rewrite/rewriting.ts'
import { ownerOf } from '../../session-owner.ts'
import type { Reply } from '../calls/call.ts'
import { rewritten } from '../calls/rewritten-reply.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { MessageRouter } from '../message-router.ts'
import { EVENT_STREAM_HEADERS } from './event-stream.ts'
import { followCalls } from './follow-calls.ts'
import { busyRefusal, failureText } from './http-reply.ts'
import { assertTakesEvents } from './mcp-headers.ts'
import { readClientMessage } from './read-client-message.ts'
import { type InitializeRequest, readInitialize } from './read-initialize.ts'

/** The id of the session that a message of HTTP+SSE names. */
export const sseSessionId = ({ url }: Exchange): string | undefined =>
  new URL(url, 'http://localhost').searchParams.get('session_id') || undefined

/** The session that a message of HTTP+SSE names. An unknown one is refused. */
export function sseSession(router: MessageRouter, exchange: Exchange): Session {
  const id = sseSessionId(exchange)
  if (!id) throw rpcRefusal(400, INVALID_REQUEST, 'The session_id parameter is missing')
  const session = router.sessions.find(id, { owner: ownerOf(exchange), over: 'sse' })
  if (!session) throw sessionNotFound()
  return session
}

/**
 * The HTTP+SSE transport of 2024-11-05 over the message router.
 *
 * A session is one event stream, which begins with the GET and ends with the connection. A message of the server
 * goes to one session, never to all.
 */
export function createSse(
  router: MessageRouter,
  publicBase: (request: IncomingMessage) => string,
): (exchange: Exchange, rewriting?: Rewriting) => Promise<void> {
  function open(exchange: Exchange): void {
    const { request, response } = exchange
    assertTakesEvents(request)
    const session = router.openSession({
      capabilities: {},
      version: '2024-11-05',
      owner: ownerOf(exchange),
      holder: router.holderOf(exchange),
      over: 'sse',
      onClosed: () => session && router.sessions.close(session, 'the client has gone'),
    })
    if (!session) {
      throw allSessionsTaken()
    }
    response.writeHead(200, EVENT_STREAM_HEADERS)
    const endpoint = `${publicBase(request)}/messages?session_id=${session.id}`
    response.write(formatSse({ event: 'endpoint', data: endpoint }))
    session.outbox.open(response, { prime: false })
  }

  const replyTo = (session: Session, idText: string): Reply => ({
    attended: () => true,
    related(text) {
      session.outbox.send(text)
      return true
    },
    keepAlive: () => {},
    respond: text => session.outbox.send(text),
    fail(failure) {
      if (failure !== 'cancelled') session.outbox.send(failureText(idText, failure))
    },
  })

  async function initialize(
    { idText }: Request,
    { paramsText, capabilities }: InitializeRequest,
    { session, rewriting }: { session: Session; rewriting: Rewriting | undefined },
  ): Promise<void> {
    Object.assign(session.capabilities, capabilities)
    const { answer, metadata } = await router.initialize(paramsText)
    session.metadata = metadata
    if (session.closed) return
    if (answer.kind === 'result') {
      const result = resultText(idText, answer.text)
      session.outbox.send(rewriting ? await rewriting.text(result) : result)
    } else if (answer.kind === 'error') {
      session.outbox.send(`{"jsonrpc":"2.0","id":${idText},"error":${answer.text}}`)
    } else session.outbox.send(failureText(idText, answer.failure === 'overload' ? 'gone' : answer.failure))
  }

  async function post(exchange: Exchange, rewriting?: Rewriting): Promise<void> {
    const { response } = exchange
    const session = sseSession(router, exchange)
    const message = await readClientMessage(exchange)
    if (!message) throw rpcRefusal(400, PARSE_ERROR, 'The body is not a JSON-RPC message')
    const idText = message.kind === 'request' ? message.idText : undefined
    await untilAvailable(router.availability, exchange, idText)
    if (session.closed) throw sessionNotFound()

    if (message.kind === 'response') router.messages.respond(message, session)
    else if (message.kind === 'notification') {
      if (!router.messages.notify(message, session)) throw busyRefusal(undefined)
    } else if (message.method === 'initialize')
      void initialize(message, readInitialize(message), { session, rewriting })
    else {
      const reply = rewritten(replyTo(session, message.idText), rewriting)
      const outcome = router.messages.request(message, { session, owner: session.owner, reply })
      if (outcome === 'busy') throw busyRefusal(idText)
      if (outcome !== 'responded') followCalls(router.calls, [outcome], exchange)
    }
    if (!response.destroyed) response.writeHead(202, { 'content-type': 'text/plain' }).end('Accepted')
  }

  return async (exchange, rewriting) => {
    if (!isMessage(exchange.url)) return open(exchange)
    if (exchange.request.method === 'POST') return post(exchange, rewriting)
    throw rpcRefusal(405, INVALID_REQUEST, 'Method not allowed', { headers: { allow: 'POST' } })
  }
}
