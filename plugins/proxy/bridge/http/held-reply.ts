import { sendJson } from './http-reply.ts'
import { createStreamReply, type PostReply, type ReplyOptions } from './streamable-replies.ts'

/**
 * Sends the response as JSON when it is the first message of its call, else as the last event of an event stream.
 *
 * The head waits for the first message, at most `holdMs`. Some clients limit the length of an event but not that of
 * a JSON body, and most calls get nothing but their response.
 */
export function createHeldReply(options: ReplyOptions & { holdMs: number }): PostReply {
  const { response, session, holdMs, statusOf, onGone } = options
  let stream: PostReply | undefined
  let timer: NodeJS.Timeout | undefined

  /** Goes on as an event stream: the response is not the first message, or does not come soon. */
  function toStream(): PostReply {
    clearTimeout(timer)
    if (!stream) {
      stream = createStreamReply(options)
      // What comes after the response reaches nobody.
      if (!response.headersSent) stream.open()
    }
    return stream
  }

  // The connection broke before the head was sent. With a session that does not cancel the call (MCP 2025-11-25,
  // transports): it goes on for `resumeGraceMs`, as that of a broken event stream. The client got no event id to
  // resume from, and the response may be sent on no other stream.
  response.once('close', () => {
    if (stream || response.writableEnded) return
    clearTimeout(timer)
    stream = createStreamReply(options)
    if (!session) onGone()
  })

  return {
    attended: () => stream?.attended() ?? true,
    related: text => toStream().related(text),
    keepAlive: () => stream?.keepAlive(),
    respond(text) {
      if (stream) return stream.respond(text)
      clearTimeout(timer)
      sendJson(response, statusOf(text), text)
    },
    // As on an event stream: clients take another status for a broken transport, not for the end of the call.
    fail: failure => toStream().fail(failure),
    open() {
      if (!stream && !response.writableEnded) timer = setTimeout(toStream, holdMs)
    },
  }
}
