/** Says where the endpoint that a server announced is reached by the client; as it is, when it need not change. */
export type MapEndpoint = (announced: string) => string

/** A stream whose first events are larger than this has no endpoint for us. */
const MAX_SCANNED = 64 * 1024

/**
 * Rewrites the `endpoint` event at the begin of an HTTP+SSE stream (MCP 2024-11-05) and nothing else.
 *
 * Bytes are held back only until that event is complete; all later ones pass as they are.
 */
export function createEndpointRewriter(map: MapEndpoint): (chunk: Buffer | undefined) => Buffer {
  let held: Buffer | undefined = Buffer.alloc(0)
  return chunk => {
    if (!held) return chunk ?? Buffer.alloc(0)
    const all = chunk ? Buffer.concat([held, chunk]) : held
    // latin1 keeps every byte: only ASCII is looked for and put in.
    const text = all.toString('latin1')
    let start = 0
    let out = ''
    for (;;) {
      const end = endOfEvent(text, start)
      if (end < 0) break
      const event = text.slice(start, end)
      start = end
      const rewritten = rewriteEvent(event, map)
      out += rewritten ?? event
      if (rewritten !== undefined) {
        held = undefined
        return Buffer.from(out + text.slice(start), 'latin1')
      }
    }
    const rest = text.slice(start)
    if (!chunk || rest.length > MAX_SCANNED) {
      held = undefined
      return Buffer.from(out + rest, 'latin1')
    }
    held = Buffer.from(rest, 'latin1')
    return Buffer.from(out, 'latin1')
  }
}

/** Index after the blank line that ends the event; -1 while it is not there (WHATWG HTML section 9.2.5). */
function endOfEvent(text: string, from: number): number {
  const blank = /\r\n\r\n|\n\n|\r\r|\n\r\n/g
  blank.lastIndex = from
  const found = blank.exec(text)
  return found ? blank.lastIndex : -1
}

/** The event with its data mapped; undefined when it is another event than `endpoint`. */
function rewriteEvent(event: string, map: MapEndpoint): string | undefined {
  if (!/^(?:\uFEFF|\u00EF\u00BB\u00BF)?event: ?endpoint[ ]*$/m.test(event.replaceAll('\r', '\n'))) {
    return undefined
  }
  return event.replace(
    /(^|[\r\n])data: ?([^\r\n]*)/,
    (_line, before: string, url: string) => `${before}data: ${map(url.trim())}`,
  )
}
