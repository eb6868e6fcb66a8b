import type { ServerResponse } from 'node:http'
import type { Reply } from '../calls/call.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { FlowControl } from '../clients/flow-control.ts'
import { createEventStream, EVENT_STREAM_HEADERS, type EventStream } from './event-stream.ts'
import { FAILURE_TEXT, failureText, sendJson } from './http-reply.ts'

/** The reply to a POST of streamable HTTP. */
export interface PostReply extends Reply {
  /** Called when the request is on its way to the server. */
  open(): void
}

export interface ReplyOptions {
  readonly response: ServerResponse
  readonly idText: string
  readonly session: Session | undefined
  /** The HTTP status of a response of the server that is sent as JSON. */
  readonly statusOf: (text: string) => number
  /** Whether an event stream begins with an event to resume from. */
  readonly prime: boolean
  /** Of the client. */
  readonly flowOf: () => FlowControl
  readonly now: () => number
  /** Called when the client disconnects before the response, and no other connection can bring it. */
  readonly onGone: () => void
}

/** Sends the response as JSON. */
export function createJsonReply({ response, idText, statusOf, onGone }: ReplyOptions): PostReply {
  response.once('close', () => {
    if (!response.writableFinished) onGone()
  })
  return {
    attended: () => true,
    related: () => false,
    keepAlive: () => {},
    respond: text => sendJson(response, statusOf(text), text),
    fail: failure => sendJson(response, FAILURE_TEXT[failure].status, failureText(idText, failure)),
    open: () => {},
  }
}

/**
 * Sends the response as the last event of an event stream.
 *
 * With a session the events have ids, so a client whose connection breaks can resume, and the call goes on for
 * `resumeGraceMs`. Without a session a broken connection ends the call.
 */
export function createStreamReply(options: ReplyOptions): PostReply {
  const { response, idText, session, prime, flowOf, now, onGone } = options
  const stream: EventStream = session
    ? session.outbox.openForRequest()
    : createEventStream({ id: 'r', ids: false, flow: flowOf(), now, onDisconnect: onGone })
  return {
    attended: () => stream.connected,
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
    open() {
      response.writeHead(200, EVENT_STREAM_HEADERS)
      response.flushHeaders()
      stream.connect(response, { after: 0, prime })
    },
  }
}
