/** One event of a `text/event-stream` (WHATWG HTML, section 9.2). */
export interface SseEvent {
  readonly event?: string
  readonly id?: string
  readonly data: string
}

/** Whether the value of a `Content-Type` header names an event stream. */
export const isEventStream = (contentType: unknown): boolean =>
  String(contentType).startsWith('text/event-stream')

/** Writes an event. Line breaks in the data become further `data:` lines. */
export function formatSse({ event, id, data }: SseEvent): string {
  const head = (event === undefined ? '' : `event: ${event}\n`) + (id === undefined ? '' : `id: ${id}\n`)
  return `${head}${
    data.includes('\n') || data.includes('\r')
      ? data
          .split(/\r\n|\r|\n/)
          .map(line => `data: ${line}\n`)
          .join('')
      : `data: ${data}\n`
  }\n`
}

/**
 * Reads the events of a stream (section 9.2.6). Comments, `retry` and events without data are left out, as is an
 * event that the end of the stream cuts off. Throws when the stream is longer than `maxBytes`.
 */
export async function* readSse(
  body: AsyncIterable<Uint8Array>,
  { maxBytes }: { maxBytes: number },
): AsyncGenerator<SseEvent> {
  for await (const { type, id, data } of readRawSse(limited(body, maxBytes), { maxBytes })) {
    if (data === undefined) continue
    yield {
      ...(type === undefined ? {} : { event: fromRaw(type) }),
      ...(id === undefined ? {} : { id: fromRaw(id) }),
      data: fromRaw(data),
    }
  }
}

const fromRaw = (text: string): string => Buffer.from(text, 'latin1').toString('utf8')

async function* limited(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error('its response is too long')
    yield chunk
  }
}

/** A received event, byte for byte: one character stands for one byte (latin1). */
export interface RawSseEvent {
  readonly type: string | undefined
  /** Undefined for an event that only sets the id or the delay. */
  readonly data: string | undefined
  readonly id: string | undefined
  /** Milliseconds to wait before the next connection. */
  readonly retry: number | undefined
}

const LF = 0x0a
const CR = 0x0d
const MARK = '\u00EF\u00BB\u00BF'

/**
 * Reads the events of a stream of any length as they were written. Throws when one of them is larger than
 * `maxBytes`.
 */
export async function* readRawSse(
  body: AsyncIterable<Uint8Array>,
  { maxBytes }: { maxBytes: number },
): AsyncGenerator<RawSseEvent> {
  let event = createEvent()
  let isFirst = true
  for await (const line of linesOf(body, maxBytes)) {
    const text = isFirst && line.startsWith(MARK) ? line.slice(MARK.length) : line
    isFirst = false
    if (text === '') {
      if (event.bytes() > 0) yield event.end()
      event = createEvent()
      continue
    }
    event.add(text)
    if (event.bytes() > maxBytes) throw new Error(`it sent an event of more than ${maxBytes} bytes`)
  }
}

function createEvent() {
  const data: string[] = []
  let bytes = 0
  let type: string | undefined
  let id: string | undefined
  let retry: number | undefined
  return {
    bytes: () => bytes,
    add(line: string): void {
      bytes += line.length
      const colon = line.indexOf(':')
      const field = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
      if (field === 'data') data.push(value)
      else if (field === 'event') type = value
      else if (field === 'id' && !value.includes('\0')) id = value
      else if (field === 'retry' && /^\d{1,9}$/.test(value)) retry = Number(value)
    },
    end: (): RawSseEvent => ({ type, data: data.length ? data.join('\n') : undefined, id, retry }),
  }
}

/** The lines of a stream, which end with CR, LF or both. A last line without an end is left out. */
async function* linesOf(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  let parts: string[] = []
  let length = 0
  let afterCr = false
  for await (const chunk of body) {
    let from = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const code = chunk[at]
      if (code !== LF && code !== CR) {
        afterCr = false
        continue
      }
      const isSecondHalf = code === LF && afterCr
      afterCr = code === CR
      if (!isSecondHalf) {
        yield parts.join('') + rawOf(chunk, from, at)
        parts = []
        length = 0
      }
      from = at + 1
    }
    if (from === chunk.length) continue
    parts.push(rawOf(chunk, from, chunk.length))
    length += chunk.length - from
    if (length > maxBytes) throw new Error(`it sent a line of more than ${maxBytes} bytes`)
  }
}

const rawOf = (chunk: Uint8Array, from: number, to: number): string =>
  Buffer.from(chunk.buffer, chunk.byteOffset + from, to - from).toString('latin1')
