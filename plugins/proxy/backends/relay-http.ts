import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { responseHeaders } from '../headers.ts'
import { ClientGone } from '../request-refusal.ts'
import type { Slots } from '../slots.ts'

/** A request as it goes to the server. */
export interface Outgoing {
  readonly origin: string
  readonly path: string
  readonly method: string
  /** Names and values in turn. */
  readonly headers: string[]
  readonly body: Buffer | Readable | null
}

/** What is looked at while an answer passes. */
export interface Watch {
  /** Asked when the head of the answer is there. True: the answer is not passed on, `relay` tells of it. */
  take(status: number, headers: IncomingHttpHeaders): boolean
  /** New values for headers of the answer, by lower-case name. */
  replace(headers: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined
  /** Changes the bytes of the answer; undefined: they pass as they are. */
  transform(status: number, headers: IncomingHttpHeaders): ((chunk: Buffer | undefined) => Buffer) | undefined
}

/** How an attempt ended. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'taken'; readonly status: number; readonly headers: IncomingHttpHeaders }
  | { readonly kind: 'failed'; readonly error: unknown; readonly stream: BrokenStream | undefined }

/** An event stream that was being passed on when it broke. */
export interface BrokenStream {
  /** Its first bytes. */
  readonly first: Buffer | undefined
}

/** The way to break off what is under way, e.g. because the server is going. */
export type Cancel = (reason: Error) => void

/** The most of an unwanted answer that is read to keep its connection usable. */
const MAX_DISCARDED = 64 * 1024

/**
 * Sends one request and passes the answer on as bytes, in the pace of the slower side.
 *
 * A client that goes away cancels the request. An answer whose length is known and that came whole leaves
 * in one write; an event stream's head is sent at once, even before its first event.
 */
export function relay(
  agent: Dispatcher,
  outgoing: Outgoing,
  options: {
    response: ServerResponse
    watch: Watch
    headersTimeoutMs: number
    running: Slots<Cancel>
  },
): Promise<Outcome> {
  const { response, watch, running } = options
  return new Promise(resolve => {
    let controller: Dispatcher.DispatchController | undefined
    let cancelled: Error | undefined
    let taken: { status: number; headers: IncomingHttpHeaders } | undefined
    let transform: ((chunk: Buffer | undefined) => Buffer) | undefined
    let first: Buffer | undefined
    let isEventStream = false
    let length = -1
    let received = 0
    let ended = false

    const cancel: Cancel = reason => {
      cancelled ??= reason
      controller?.abort(cancelled)
    }
    const onClose = () => cancel(new ClientGone())
    const settle = (outcome: Outcome) => {
      running.release(slot)
      response.off('close', onClose)
      resolve(outcome)
    }

    const write = (controller: Dispatcher.DispatchController, chunk: Buffer) => {
      if (!chunk.length || response.write(chunk)) return
      controller.pause()
      response.once('drain', () => controller.resume())
    }

    if (response.destroyed) return resolve({ kind: 'failed', error: new ClientGone(), stream: undefined })
    const slot = running.add(cancel)
    response.on('close', onClose)

    agent.dispatch(
      {
        origin: outgoing.origin,
        path: outgoing.path,
        method: outgoing.method as Dispatcher.HttpMethod,
        headers: outgoing.headers,
        body: outgoing.body,
        headersTimeout: options.headersTimeoutMs,
        bodyTimeout: 0,
      },
      {
        onRequestStart(now) {
          controller = now
          if (cancelled) now.abort(cancelled)
        },
        onResponseStart(now, status, headers, statusMessage) {
          if (status < 200) return
          if (watch.take(status, headers)) {
            taken = { status, headers }
            // Its body is read only where that is cheaper than a new connection.
            if (!(Number(headers['content-length'] ?? Number.NaN) <= MAX_DISCARDED)) {
              now.abort(new Error('answer discarded'))
            }
            return
          }
          const raw = rawHeadersOf(now, headers)
          transform = watch.transform(status, headers)
          isEventStream = String(headers['content-type']).startsWith('text/event-stream')
          const head = responseHeaders(raw, headers.connection as string | undefined, watch.replace(headers))
          response.writeHead(status, statusMessage, transform ? withoutLength(head) : head)
          if (!transform && headers['content-length'] !== undefined)
            length = Number(headers['content-length'])
          // An event stream may stay silent for long. If its first event came along, both leave in one write.
          if (length < 0) {
            process.nextTick(() => {
              if (received === 0 && !ended && !response.destroyed) response.flushHeaders()
            })
          }
        },
        onResponseData(now, chunk) {
          received += chunk.length
          if (taken) return
          first ??= chunk
          if (transform) {
            write(now, transform(chunk))
          } else if (received === length) {
            ended = true
            response.end(chunk)
          } else {
            write(now, chunk)
          }
        },
        onResponseEnd() {
          if (taken) return settle({ kind: 'taken', ...taken })
          if (!ended) {
            ended = true
            response.end(transform?.(undefined))
          }
          settle({ kind: 'done' })
        },
        onResponseError(_now, error) {
          if (taken && !cancelled) return settle({ kind: 'taken', ...taken })
          settle({ kind: 'failed', error: cancelled ?? error, stream: isEventStream ? { first } : undefined })
        },
      },
    )
  })
}

function rawHeadersOf(
  controller: Dispatcher.DispatchController,
  parsed: IncomingHttpHeaders,
): readonly (Buffer | string)[] {
  const { rawHeaders } = controller
  if (Array.isArray(rawHeaders)) return rawHeaders
  return Object.entries(parsed).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).flatMap(item => [name, item]),
  )
}

/** A changed answer has another length than announced. */
function withoutLength(headers: readonly string[]): string[] {
  const out: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    if (name.toLowerCase() !== 'content-length') out.push(name, headers[i + 1] as string)
  }
  return out
}
