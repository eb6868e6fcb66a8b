import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OnReadOpts, Socket } from 'node:net'

const SMALL = 16 * 1024
const LARGE = 256 * 1024
/** From so many bytes on it is worth going past the parser, at the price of the connection. */
const LONG = 256 * 1024

/** Reads what a server sends for Node's HTTP client, which parses it; but long answers go past the parser. */
export interface Reader {
  readonly onread: OnReadOpts
  /** From now on the socket gets what is read, as its `data`. */
  begin(socket: Socket): void
  /**
   * In the handler of `response`, for an answer with a body: whether the rest of it will be written to
   * `response` without the parser, which makes a copy of every byte. Then nobody else may read it.
   */
  takeOver(answer: IncomingMessage, response: ServerResponse): boolean
}

export function createReader(): Reader {
  let size = SMALL
  let buffer: Buffer = Buffer.allocUnsafeSlow(size)
  let socket: Socket | undefined
  let current: { answer: IncomingMessage; response: ServerResponse } | undefined
  /** Bytes of a taken-over answer that are still to come. */
  let left = 0
  let isTaken = false

  /** Whether all that was read has been passed on, so that its buffer may be used again. */
  const isFree = () =>
    !current || (current.answer.readableLength === 0 && current.response.writableLength === 0)

  /** Writes on; answers whether more is to be read now. */
  function pass(bytes: Uint8Array): boolean {
    const client = current?.response.socket
    if (!current || !socket || !client) return false
    const from = socket
    const part = bytes.subarray(0, left) // what a server sends beyond its length is nobody's
    left -= part.length
    let isWaiting = false
    // Not through the response, which would collect what it is given until the next tick.
    client.write(part, () => {
      if (isWaiting) from.resume()
    })
    if (left === 0) {
      current.response.end()
      from.destroy()
      return false
    }
    // Nothing left in the client's queue: the kernel has it all, and the buffer is free again.
    isWaiting = client.writableLength > 0
    return !isWaiting
  }

  return {
    onread: {
      buffer() {
        if (buffer.length !== size || !isFree()) buffer = Buffer.allocUnsafeSlow(size)
        return buffer
      },
      callback(length, read) {
        if (!socket) return false // who speaks before being asked is no server of HTTP
        if (length === size && size < LARGE) size *= 4
        const bytes = Buffer.from(read.buffer, read.byteOffset, length)
        if (isTaken) return pass(bytes)
        socket.emit('data', bytes)
        if (!isTaken || !current) return true
        // The parser has just come upon the head of a long answer; it has parsed what came with it.
        const first = current.answer.read() as Buffer | null
        return first ? pass(first) : true
      },
    },
    begin(made) {
      socket = made
    },
    takeOver(answer, response) {
      current = { answer, response }
      left = Number(answer.headers['content-length'] ?? 0)
      // Of requests in a row only the first has the client's connection; no other answer is written yet.
      isTaken = left >= LONG && answer.headers['transfer-encoding'] === undefined && response.socket !== null
      if (!isTaken) return false
      response.flushHeaders()
      // Once all is written the server's end is of no interest; before, it is the answer's end too.
      socket?.once('close', () => left > 0 && response.destroy())
      return true
    },
  }
}
