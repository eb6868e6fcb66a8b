import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OnReadOpts, Socket } from 'node:net'

const SMALL = 16 * 1024
const LARGE = 256 * 1024
/** Bodies of at least so many bytes bypass the parser; their connection cannot be used again. */
const LONG = 256 * 1024

/** Reads what a server sends for Node's HTTP client, which parses it. Long bodies bypass the parser. */
export interface Reader {
  readonly onread: OnReadOpts
  /** Passes what is read to the socket from now on, as its `data`. */
  begin(socket: Socket): void
  /**
   * To be called in the handler of `response`, for a response with a body. Returns whether the rest of the body is
   * written to `response` without the parser, which copies every byte. Then no other code may read it.
   */
  takeOver(answer: IncomingMessage, response: ServerResponse): boolean
}

export function createReader(): Reader {
  let size = SMALL
  let buffer: Buffer = Buffer.allocUnsafeSlow(size)
  let socket: Socket | undefined
  let current: { answer: IncomingMessage; response: ServerResponse } | undefined
  /** Bytes still to come of a body that bypasses the parser. */
  let left = 0
  let isTaken = false

  /** Whether all that was read has been written, so that its buffer may be used again. */
  const isFree = () =>
    !current || (current.answer.readableLength === 0 && current.response.writableLength === 0)

  /** Writes bytes to the client. Returns whether more is to be read now. */
  function pass(bytes: Uint8Array): boolean {
    const client = current?.response.socket
    if (!current || !socket || !client) return false
    const from = socket
    const part = bytes.subarray(0, left) // bytes beyond the announced length are dropped
    left -= part.length
    let isWaiting = false
    // Not through the response, which collects writes until the next tick.
    client.write(part, () => {
      if (isWaiting) from.resume()
    })
    if (left === 0) {
      current.response.end()
      from.destroy()
      return false
    }
    // The client's queue is empty: the kernel has all bytes, and the buffer can be reused.
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
        if (!socket) return false // an HTTP server sends nothing before a request
        if (length === size && size < LARGE) size *= 4
        const bytes = Buffer.from(read.buffer, read.byteOffset, length)
        if (isTaken) return pass(bytes)
        socket.emit('data', bytes)
        if (!isTaken || !current) return true
        // The parser has just reached the head of a long response and has parsed the bytes after it.
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
      // Of pipelined requests only the first has the client's connection; the responses to others wait.
      isTaken = left >= LONG && answer.headers['transfer-encoding'] === undefined && response.socket !== null
      if (!isTaken) return false
      response.flushHeaders()
      // After the last byte the server's end does not matter; before it, the body is incomplete.
      socket?.once('close', () => left > 0 && response.destroy())
      return true
    },
  }
}
