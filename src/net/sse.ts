/** One event of a `text/event-stream` (WHATWG HTML, section 9.2). */
export interface SseEvent {
  readonly event?: string
  readonly id?: string
  readonly data: string
}

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
