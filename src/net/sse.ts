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
  let fields: { event?: string; id?: string; data: string[] } = { data: [] }
  for await (const line of linesOf(body, maxBytes)) {
    if (line === '') {
      const { data, ...rest } = fields
      fields = { data: [] }
      if (data.length) yield { ...rest, data: data.join('\n') }
      continue
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (name === 'data') fields.data.push(value)
    else if (name === 'event' || name === 'id') fields[name] = value
  }
}

/** The lines of a stream, which end with CR, LF or both. */
async function* linesOf(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let held = ''
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error('its response is too long')
    const text = decoder.decode(chunk, { stream: true })
    const ended = held.endsWith('\r') || /[\r\n]/.test(text)
    held += text
    if (!ended) continue
    // A CR at the end may be the first half of a CRLF.
    const lines = held.split(/\r\n|\n|\r(?!$)/)
    held = lines.pop() ?? ''
    yield* lines
  }
}
