import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { parseRaw } from '../../../../src/lib/raw-json.ts'
import { INVALID_REQUEST, PARSE_ERROR } from '../../../../src/net/rpc-error-codes.ts'
import type { Message, Request } from '../../../../src/net/rpc-message.ts'
import { untilAvailable } from '../../availability.ts'
import { initializeParams } from '../../eras/initialize-params.ts'
import { forgetMessage } from '../../exchange.ts'
import { rpcRefusal, sessionNotFound } from '../../request-refusal.ts'
import type { Rewriting } from '../../rewrite/rewriting.ts'
import { ownerOf } from '../../session-owner.ts'
import type { Call } from '../calls/call.ts'
import { rewritten } from '../calls/rewritten-reply.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { MessageRouter } from '../message-router.ts'
import { createModernRequests } from '../newer-clients/modern-requests.ts'
import { createAskModern } from '../server/ask-own.ts'
import { postBatch } from './batch-post.ts'
import { assertModernRequest } from './check-modern-request.ts'
import { followCalls } from './follow-calls.ts'
import { busyRefusal, sendEmpty } from './http-reply.ts'
import { accepts, assertKnownVersion, isJsonBody, modernVersion } from './mcp-headers.ts'
import { createMirroredTools } from './mirrored-tools.ts'
import { createPostReply } from './post-reply.ts'
import { isBatch, readBatch } from './read-batch.ts'
import { readClientMessage } from './read-client-message.ts'
import { initialize } from './streamable-initialize.ts'
import { findSession } from './streamable-sessions.ts'

/** What is known of the client of a request. */
interface Sender {
  readonly session: Session | undefined
  /** The version that a client in the manner of 2026-07-28 states. */
  readonly version: string | undefined
  /** The same where the server is of the era of sessions. */
  readonly translated: string | undefined
}

/**
 * Responds to a POST of streamable HTTP, which carries one message of a client, or a batch. `read` is the message, if it
 * was read before.
 */
export function createStreamablePost(
  router: MessageRouter,
): (exchange: Exchange, rewriting?: Rewriting, read?: Message) => Promise<void> {
  const modernRequests = createModernRequests(router)
  const mirroredTools = createMirroredTools(createAskModern(router.ask), router.now)

  async function post(exchange: Exchange, rewriting?: Rewriting, read?: Message): Promise<void> {
    const { request, response } = exchange
    const body = await readBody(exchange, read)
    if (!accepts(request, 'application/json') && !accepts(request, 'text/event-stream')) {
      const problem = 'The Accept header must allow application/json or text/event-stream'
      throw rpcRefusal(406, INVALID_REQUEST, problem)
    }
    if (!('kind' in body)) return postBatch(router, { messages: body, exchange, rewriting })
    const message = body
    const idText = message.kind === 'request' ? message.idText : undefined
    const version = modernVersion(request, message)
    if (version !== undefined && message.kind === 'request') assertModernRequest(exchange, message, version)
    const isInitialize =
      version === undefined && message.kind === 'request' && message.method === 'initialize'
    if (!isInitialize) assertKnownVersion(request, idText)
    // MCP 2026-07-28 has no sessions, and `initialize` starts one: neither reads the session header.
    const session = version !== undefined || isInitialize ? undefined : findSession(router, exchange, idText)

    await untilAvailable(router.availability, exchange, idText)
    if (response.destroyed) return
    if (session?.closed) throw sessionNotFound({ idText })
    if (message.kind === 'request' && isInitialize)
      return initialize(router, { message, exchange, rewriting })
    const isNative = version !== undefined && (await router.eras.servesStateless())
    const isInitialised = isNative || session || router.handshake.agreed || router.eras.legacy === false
    if (message.kind === 'request' && !isInitialised) {
      await router.handshake.ensure(version === undefined ? undefined : initializeParams(message))
    }
    // `initialize` may have shown that the server has none.
    const isTranslated = version !== undefined && !isNative && !(await router.eras.servesStateless())
    const translated = isTranslated ? version : undefined

    if (message.kind === 'response') router.messages.respond(message, session)
    else if (message.kind === 'request') {
      if (isNative) await mirroredTools.check(exchange, message)
      return call(message, { session, version, translated }, exchange, rewriting)
    }
    // Clients of 2026-07-28 have no notifications that an older server knows.
    else if (translated === undefined && !router.messages.notify(message, session))
      throw busyRefusal(undefined)
    sendEmpty(response, 202)
  }

  function call(
    message: Request,
    { session, version, translated }: Sender,
    exchange: Exchange,
    rewriting: Rewriting | undefined,
  ): void {
    const { idText } = message
    let started: Call | undefined
    const onGone = () => {
      // No client can get this response any more.
      if (started) router.calls.abandon(started, 'cancelled', 'the client has gone')
    }
    const isModern = version !== undefined
    const post = createPostReply(router, exchange, { idText, session, isModern, onGone })
    const reply = rewritten(post, rewriting)
    const outcome =
      translated === undefined
        ? router.messages.request(message, {
            session,
            owner: ownerOf(exchange),
            holder: router.holderOf(exchange),
            reply,
          })
        : modernRequests.request(message, { version: translated, exchange, reply })
    if (outcome === 'busy') throw busyRefusal(idText)
    if (outcome !== 'responded') started = outcome
    forgetMessage(exchange)
    post.open()
    if (started) followCalls(router.calls, [started], exchange)
  }

  return post
}

/** The message in the body, or the messages of a batch; anything else is refused. */
async function readBody(exchange: Exchange, read?: Message): Promise<Message | readonly Message[]> {
  const text = await exchange.rawText()
  const message =
    text !== undefined && isBatch(text)
      ? readBatch(exchange.request, text)
      : (read ?? (await readClientMessage(exchange)))
  if (!message) {
    if (isJson(text)) throw rpcRefusal(400, INVALID_REQUEST, 'The body is not a JSON-RPC message')
    throw rpcRefusal(400, PARSE_ERROR, 'The body is not valid JSON')
  }
  if (isJsonBody(exchange.request)) return message
  throw rpcRefusal(415, INVALID_REQUEST, 'The Content-Type must be application/json')
}

function isJson(text: string | undefined): boolean {
  if (text === undefined) return false
  try {
    parseRaw(text)
    return true
  } catch {
    return false
  }
}
