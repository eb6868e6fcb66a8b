import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import type { Reply } from '../calls/call.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { MessageRouter } from '../message-router.ts'
import { failureText } from './http-reply.ts'
import { wantsStream } from './mcp-headers.ts'
import { createJsonReply, createStreamReply } from './streamable-replies.ts'

/** The reply to a batch, which ends with the last response. */
export interface BatchReply {
  /** The reply to one request of the batch. */
  of(idText: string): Reply
  /** Called when the requests are on their way to the server. */
  open(): void
}

/**
 * Sends the responses to a batch as events of one stream, or as one JSON array to a client that takes only JSON (MCP
 * 2025-03-26, transports).
 */
export function createBatchReply(
  { limits, flow, now }: Pick<MessageRouter, 'limits' | 'flow' | 'now'>,
  { request, response }: Exchange,
  { session, count, onGone }: { session: Session; count: number; onGone: () => void },
): BatchReply {
  const isStream = wantsStream(request)
  const flowOf = () => flow.of(session.owner ?? session)
  const options = { response, session, flowOf, now, onGone, idText: '', statusOf: () => 200, prime: false }
  const post = isStream ? createStreamReply(options) : createJsonReply(options)
  const texts: string[] = []
  let room = limits.maxLine
  let left = count

  /** Puts a response into the array. It is one text: too long a text cannot be made, which would end the supervisor. */
  function collect(idText: string, text: string): void {
    const isTooLong = text.length > room
    if (!isTooLong) room -= text.length
    texts.push(isTooLong ? failureText(idText, 'oversize') : text)
  }

  /** Ends one request; without a text where its client expects no response. */
  function end(idText: string, text: string | undefined): void {
    left -= 1
    if (!isStream && text !== undefined) collect(idText, text)
    else if (left > 0 && text !== undefined) post.related(text)
    if (left > 0) return
    if (!isStream) post.respond(`[${texts.join(',')}]`)
    else if (text !== undefined) post.respond(text)
    else post.fail('cancelled')
  }

  return {
    of: idText => ({
      get attended() {
        return post.attended
      },
      related: text => post.related(text),
      keepAlive: () => post.keepAlive(),
      respond: text => end(idText, text),
      fail: failure => end(idText, failure === 'cancelled' ? undefined : failureText(idText, failure)),
    }),
    open: () => post.open(),
  }
}
