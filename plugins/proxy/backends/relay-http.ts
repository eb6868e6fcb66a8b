import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { ClientGone } from '../request-refusal.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import type { Slots } from '../slots.ts'
import { CallTooLong } from './gateway-error.ts'
import { type BrokenStream, createResponseWriter, type ResponseChanges } from './response-writer.ts'
import { createRewritingWriter } from './rewriting-writer.ts'

/** A request as it goes to the server. */
export interface Outgoing {
  readonly origin: string
  readonly path: string
  readonly method: string
  /** Names and values in turn. */
  readonly headers: string[]
  readonly body: Buffer | Readable | null
}

/** Looks at a response while it is passed on, and may keep or change it. */
export interface Watch extends ResponseChanges {
  /** Called with the head of the response. True: the response is not passed on, and the outcome is `taken`. */
  take(status: number, headers: IncomingHttpHeaders): boolean
}

/** How an attempt ended. */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'taken'; readonly status: number; readonly headers: IncomingHttpHeaders }
  | { readonly kind: 'failed'; readonly error: unknown; readonly stream: BrokenStream | undefined }

/** Cuts a request in flight, e.g. because the server is replaced. */
export type Cancel = (reason: Error) => void

/** The most bytes of a response that is not passed on that are read to keep its connection usable. */
const MAX_DISCARDED = 64 * 1024
/** How long its body is waited for, in milliseconds. */
const DISCARD_MS = 2000

/** Sends one request and passes the response on, as bytes unless it is rewritten. A client that disconnects cancels the request. */
export function relay(
  agent: Dispatcher,
  outgoing: Outgoing,
  options: {
    response: ServerResponse
    watch: Watch
    rewriting: Rewriting | undefined
    headersTimeoutMs: number
    running: Slots<Cancel>
    deadline: AbortSignal | undefined
  },
): Promise<Outcome> {
  const { response, watch, rewriting, running, deadline } = options
  return new Promise(resolve => {
    const writer = rewriting
      ? createRewritingWriter(response, watch, rewriting)
      : createResponseWriter(response, watch)
    let controller: Dispatcher.DispatchController | undefined
    let cancelled: Error | undefined
    let discarding: NodeJS.Timeout | undefined
    let taken: { status: number; headers: IncomingHttpHeaders } | undefined

    const cancel: Cancel = reason => {
      cancelled ??= reason
      controller?.abort(cancelled)
    }
    const onClose = () => cancel(new ClientGone())
    const onLate = () => cancel(new CallTooLong())
    const settle = (outcome: Outcome) => {
      clearTimeout(discarding)
      running.release(slot)
      response.off('close', onClose)
      deadline?.removeEventListener('abort', onLate)
      resolve(outcome)
    }

    if (response.destroyed) return resolve({ kind: 'failed', error: new ClientGone(), stream: undefined })
    const slot = running.add(cancel)
    response.on('close', onClose)
    deadline?.addEventListener('abort', onLate, { once: true })
    if (deadline?.aborted) onLate()

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
          if (!watch.take(status, headers)) return writer.start(now, status, headers, statusMessage)
          taken = { status, headers }
          // The body is read only where that is cheaper than a new connection.
          const discard = () => now.abort(new Error('response discarded'))
          if (!(Number(headers['content-length'] ?? Number.NaN) <= MAX_DISCARDED)) return discard()
          discarding = setTimeout(discard, DISCARD_MS)
        },
        onResponseData(now, chunk) {
          if (!taken) writer.write(now, chunk)
        },
        onResponseEnd() {
          if (taken) return settle({ kind: 'taken', ...taken })
          writer.end()
          settle({ kind: 'done' })
        },
        onResponseError(_now, error) {
          if (taken && !cancelled) return settle({ kind: 'taken', ...taken })
          settle({ kind: 'failed', error: cancelled ?? error, stream: writer.stream() })
        },
      },
    )
  })
}
