import type { ServerResponse } from 'node:http'
import type { Reply } from './call.ts'
import type { Session } from './client-sessions.ts'
import { createEventStream, EVENT_STREAM_HEADERS, type EventStream } from './event-stream.ts'
import { FAILURE_TEXT, failureText, sendJson } from './http-reply.ts'

/** Sends the response as JSON. `onGone` is called when the client disconnects before. */
export function createJsonReply(
  response: ServerResponse,
  options: { idText: string; onGone: () => void },
): Reply {
  const { idText, onGone } = options
  response.once('close', () => {
    if (!response.writableFinished) onGone()
  })
  return {
    attended: true,
    related: () => false,
    keepAlive: () => {},
    respond: text => sendJson(response, 200, text),
    fail: failure => sendJson(response, FAILURE_TEXT[failure].status, failureText(idText, failure)),
  }
}

/**
 * Sends the response as the last event of an event stream.
 *
 * With a session the events have ids, so a client whose connection breaks can resume, and the call goes on for
 * `resumeGraceMs`. Without a session a broken connection ends the call.
 */
export function createStreamReply(options: {
  idText: string
  session: Session | undefined
  now: () => number
  onGone: () => void
}): Reply & { open(response: ServerResponse, prime: boolean): void } {
  const { idText, session, now, onGone } = options
  const stream: EventStream = session
    ? session.outbox.openForRequest()
    : createEventStream({ id: 'r', ids: false, now, onDisconnect: onGone })
  return {
    get attended() {
      return stream.connected
    },
    related(text) {
      stream.push(text)
      return true
    },
    // The sweep of sessions sends the keep-alive comments of their streams.
    keepAlive() {
      if (!session) stream.keepAlive()
    },
    respond(text) {
      stream.push(text)
      stream.finish()
    },
    fail(failure) {
      // A client that cancelled a request expects no response (MCP, cancellation).
      if (failure !== 'cancelled') stream.push(failureText(idText, failure))
      stream.finish()
    },
    open(response, prime) {
      response.writeHead(200, EVENT_STREAM_HEADERS)
      response.flushHeaders()
      stream.connect(response, { after: 0, prime })
    },
  }
}
