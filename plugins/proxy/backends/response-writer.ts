import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import { isEventStream } from '../../../src/net/sse.ts'
import { responseHeaders } from '../headers.ts'

/** Changes the bytes of a response; undefined stands for their end. */
export type Transform = (chunk: Buffer | undefined) => Buffer

/** What of a response is changed on its way to the client. */
export interface ResponseChanges {
  /** Returns new values for headers of the response, by lower-case name. */
  replace(headers: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined
  /** Returns a function that changes the bytes of the response; undefined to pass them as they are. */
  transform(status: number, headers: IncomingHttpHeaders): Transform | undefined
}

/** An event stream that was being passed on when it broke. */
export interface BrokenStream {
  /** Its first bytes. */
  readonly first: Buffer | undefined
  /** Resolves when all that was received whole has been written. */
  readonly written?: Promise<void>
}

/**
 * Writes the response of a server to a client, at the speed of the slower of the two.
 *
 * A response that comes whole, with a known length, leaves in one write. The head of an event stream is sent at
 * once, even before the first event.
 */
export interface ResponseWriter {
  start(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    statusMessage: string | undefined,
  ): void
  write(controller: Dispatcher.DispatchController, chunk: Buffer): void
  end(): void
  /** The event stream that is being written, if the response is one. */
  stream(): BrokenStream | undefined
}

export function createResponseWriter(response: ServerResponse, changes: ResponseChanges): ResponseWriter {
  let transform: Transform | undefined
  let first: Buffer | undefined
  let isStream = false
  let length = -1
  let received = 0
  let ended = false

  function pass(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!chunk.length || response.write(chunk)) return
    controller.pause()
    response.once('drain', () => controller.resume())
  }

  return {
    start(controller, status, headers, statusMessage) {
      const raw = rawHeadersOf(controller, headers)
      transform = changes.transform(status, headers)
      isStream = isEventStream(headers['content-type'])
      const head = responseHeaders(raw, headers.connection as string | undefined, changes.replace(headers))
      response.writeHead(status, statusMessage, transform ? withoutLength(head) : head)
      if (!transform && headers['content-length'] !== undefined) length = Number(headers['content-length'])
      // An event stream may stay silent for long. If its first event came along, both leave in one write.
      if (length < 0) {
        process.nextTick(() => {
          if (received === 0 && !ended && !response.destroyed) response.flushHeaders()
        })
      }
    },
    write(controller, chunk) {
      received += chunk.length
      first ??= chunk
      if (transform) {
        pass(controller, transform(chunk))
      } else if (received === length) {
        ended = true
        response.end(chunk)
      } else {
        pass(controller, chunk)
      }
    },
    end() {
      if (ended) return
      ended = true
      response.end(transform?.(undefined))
    },
    stream() {
      return isStream ? { first } : undefined
    },
  }
}

export function rawHeadersOf(
  controller: Dispatcher.DispatchController,
  parsed: IncomingHttpHeaders,
): readonly (Buffer | string)[] {
  const { rawHeaders } = controller
  if (Array.isArray(rawHeaders)) return rawHeaders
  return Object.entries(parsed).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).flatMap(item => [name, item]),
  )
}

/** A changed response has another length than announced. */
const withoutLength = (headers: readonly string[]): string[] => without(headers, OF_LENGTH)

const OF_LENGTH = new Set(['content-length'])

/** The headers, names and values in turn, without those of these names (in lower case). */
export function without(headers: readonly string[], names: ReadonlySet<string>): string[] {
  const out: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    if (!names.has(name.toLowerCase())) out.push(name, headers[i + 1] as string)
  }
  return out
}
