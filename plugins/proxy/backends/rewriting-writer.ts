import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { formatSse, isEventStream } from '../../../src/net/sse.ts'
import { responseHeaders } from '../headers.ts'
import { createEventRewriter, type EventRewriter } from '../rewrite/event-rewriter.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import {
  createResponseWriter,
  type ResponseChanges,
  type ResponseWriter,
  rawHeadersOf,
  without,
} from './response-writer.ts'

/** The most bytes of a response that is read as a whole. */
const MAX_BODY_BYTES = 32 * 1024 * 1024
/** While more bytes wait to be rewritten or written, the server is not read. */
const MAX_QUEUED_BYTES = 256 * 1024
const MARK = '\u00EF\u00BB\u00BF'

/** What they say is about bytes that the client does not get (RFC 9110, section 8; RFC 9530). */
const OF_BYTES = new Set([
  ...['content-length', 'content-encoding', 'content-range', 'accept-ranges', 'etag', 'last-modified'],
  ...['content-md5', 'digest', 'content-digest', 'repr-digest'],
])

/** Whether a response that is to be rewritten is in a form that cannot be read. */
export function isUnreadable(status: number, headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']
  return hasContent(status) && encoding !== undefined && encoding.toLowerCase() !== 'identity'
}

const hasContent = (status: number): boolean => status !== 202 && status !== 204 && status !== 304

/** As `createResponseWriter`, for a response that is rewritten. Its bytes are written in the order they came in. */
export function createRewritingWriter(
  response: ServerResponse,
  changes: ResponseChanges,
  rewriting: Rewriting,
): ResponseWriter {
  let sink: Sink | undefined
  let plain: ResponseWriter | undefined
  let first: Buffer | undefined
  let transform: ReturnType<ResponseChanges['transform']>
  let isStream = false
  let queued = 0
  let written = Promise.resolve()

  function then(step: () => Promise<void>): void {
    written = written.then(step).catch(() => void response.destroy())
  }

  return {
    start(controller, status, headers, statusMessage) {
      isStream = isEventStream(headers['content-type'])
      // What a client of an event stream asked for is read as one, whatever the server calls it.
      const asksForEvents = /event-stream/i.test(response.req.headers.accept ?? '')
      const isNeeded = rewriting.isNeeded()
      const asEvents =
        isStream || (isNeeded && rewriting.awaited === undefined && isGet(response) && asksForEvents)
      const isOpaque = !isNeeded && isUnreadable(status, headers)
      if (!hasContent(status) || (!asEvents && (isGet(response) || !isNeeded)) || isOpaque) {
        plain = createResponseWriter(response, changes)
        return plain.start(controller, status, headers, statusMessage)
      }
      const raw = responseHeaders(
        rawHeadersOf(controller, headers),
        headers.connection as string | undefined,
        changes.replace(headers),
      )
      const head = { status, statusMessage, headers: without(raw, OF_BYTES) }
      transform = changes.transform(status, headers)
      sink = asEvents ? createEventSink(response, head, rewriting) : createBodySink(response, head, rewriting)
    },
    write(controller, chunk) {
      if (plain) return plain.write(controller, chunk)
      first ??= chunk
      queued += chunk.length
      if (queued > MAX_QUEUED_BYTES) controller.pause()
      then(async () => {
        try {
          await sink?.take(transform ? transform(chunk) : chunk)
        } catch (error) {
          return controller.abort(error as Error)
        }
        queued -= chunk.length
        // Not at once: undici would still be in the middle of the chunk.
        if (controller.paused && queued === 0) setImmediate(() => controller.resume())
      })
    },
    end() {
      if (plain) return plain.end()
      then(async () => {
        const rest = transform?.(undefined)
        if (rest?.length) await sink?.take(rest)
        await sink?.end()
      })
    },
    stream() {
      return plain ? plain.stream() : isStream ? { first, written } : undefined
    },
  }
}

const isGet = (response: ServerResponse): boolean => response.req.method === 'GET'

/** Takes the bytes of a response, and writes another one. */
interface Sink {
  /** Resolves when more can be taken. Throws when it is too much. */
  take(chunk: Buffer): Promise<void>
  end(): Promise<void>
}

interface Head {
  readonly status: number
  readonly statusMessage: string | undefined
  readonly headers: string[]
}

function createEventSink(response: ServerResponse, head: Head, rewriting: Rewriting): Sink {
  const events: EventRewriter = createEventRewriter(rewriting)
  response.writeHead(head.status, head.statusMessage, head.headers)
  response.flushHeaders()
  let waiting = ''
  // The first event of a subscription is the server's (MCP 2026-07-28); a stream of GET may have none for long.
  let isBetween = isGet(response)
  function sendWaiting(): void {
    if (!isBetween || waiting === '' || response.writableEnded) return
    response.write(waiting, 'latin1')
    waiting = ''
  }
  const send = (text: string) => {
    waiting += formatSse({ event: 'message', data: text })
    sendWaiting()
  }
  rewriting.send = send
  return {
    async take(chunk) {
      const text = await events.push(chunk.toString('latin1'))
      isBetween = events.isBetween()
      if (response.destroyed) return
      const isTaken = text === '' || response.write(text, 'latin1')
      sendWaiting()
      if (!isTaken) await drained(response)
    },
    async end() {
      rewriting.send = undefined
      response.end(events.end(), 'latin1')
    },
  }
}

function createBodySink(response: ServerResponse, head: Head, rewriting: Rewriting): Sink {
  const chunks: Buffer[] = []
  let length = 0
  return {
    async take(chunk) {
      length += chunk.length
      if (length > MAX_BODY_BYTES) throw new Error('the response of the server is too long')
      chunks.push(chunk)
    },
    async end() {
      const body = Buffer.concat(chunks).toString('latin1')
      const text = body.startsWith(MARK) ? body.slice(MARK.length) : body
      const isOk = head.status >= 200 && head.status < 300
      const changed = isOk || looksLikeResult(text) ? await rewriting.text(text) : body
      if (response.destroyed) return
      const headers = isOk ? without(head.headers, TYPE) : head.headers
      if (isOk) headers.push('content-type', 'application/json')
      response.writeHead(head.status, head.statusMessage, [...headers, 'content-length', `${changed.length}`])
      response.end(changed, 'latin1')
    },
  }
}

const TYPE = new Set(['content-type'])

/** Whether a reader could find a result in the body of an error. */
const looksLikeResult = (text: string): boolean => /"(?:result|[^"]*\\u[^"]*)"/.test(text)

/** Resolves when the response takes more bytes, or will take none any more. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise(resolve => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
