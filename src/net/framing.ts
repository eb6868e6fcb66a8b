/** Splits a byte stream into lines, in raw text (see raw-json.ts). */
export interface Framer {
  push(chunk: Buffer): void
  /** Called at the end of the stream. The rest counts as a line. */
  end(): void
}

const NEWLINE = 0x0a
const HEAD = 256
const TAIL = 256

/** The last bytes, as a copy: a view would keep whole chunks alive. */
const tailOf = (parts: readonly Buffer[]): Buffer =>
  Buffer.from(Buffer.concat(parts.slice(-TAIL).map(part => part.subarray(-TAIL))).subarray(-TAIL))

/**
 * Newline-delimited framing (MCP, stdio transport).
 *
 * Bytes are not decoded, so a character that is split over two chunks is whole in its line. A line longer than
 * `maxLine` is not kept. `onOversize` gets its first and last bytes, which name the request of a response.
 */
export function createFramer(options: {
  maxLine: number
  onLine: (line: string) => void
  onOversize: (head: string, tail: string, bytes: number) => void
}): Framer {
  const { maxLine, onLine, onOversize } = options
  let parts: Buffer[] = []
  let length = 0
  let oversize: { head: string; tail: Buffer } | undefined

  function add(part: Buffer): void {
    length += part.length
    if (oversize) {
      oversize.tail = tailOf([oversize.tail, part])
    } else if (length > maxLine) {
      const head = Buffer.concat([...parts, part], Math.min(length, HEAD)).toString('latin1')
      oversize = { head, tail: tailOf([...parts, part]) }
      parts = []
    } else parts.push(part)
  }

  function finish(): void {
    if (oversize) onOversize(oversize.head, oversize.tail.toString('latin1'), length)
    else if (length > 0) {
      const [only] = parts
      const line = (parts.length === 1 && only ? only : Buffer.concat(parts, length)).toString('latin1')
      const text = line.endsWith('\r') ? line.slice(0, -1) : line
      if (text) onLine(text)
    }
    parts = []
    length = 0
    oversize = undefined
  }

  return {
    push(chunk) {
      let from = 0
      for (;;) {
        const newline = chunk.indexOf(NEWLINE, from)
        if (newline < 0) break
        if (newline > from) add(chunk.subarray(from, newline))
        finish()
        from = newline + 1
      }
      if (from < chunk.length) add(chunk.subarray(from))
    },
    end: finish,
  }
}

/**
 * Finds the id of a response in the first and last bytes of its line; undefined when it is not certain. Only a
 * member right after the first or right before the last brace certainly belongs to the message itself.
 */
export function idOfOversize(head: string, tail: string): string | undefined {
  const version = String.raw`"jsonrpc"\s*:\s*"2\.0"`
  const first = new RegExp(String.raw`^\s*\{\s*(?:${version}\s*,\s*)?"id"\s*:\s*(\d+)\s*,`).exec(head)
  const last = new RegExp(String.raw`,\s*"id"\s*:\s*(\d+)\s*(?:,\s*${version}\s*)?\}\s*$`).exec(tail)
  return (first ?? last)?.[1]
}
