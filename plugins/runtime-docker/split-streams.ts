import { Readable } from 'node:stream'

const HEADER_BYTES = 8

/**
 * Splits the output of a container without a terminal, as the Docker Engine API sends it: frames of a header with the
 * stream (1 or 2), three zeros and the length in four bytes, and then that many bytes ("Stream format" of
 * `ContainerAttach`). A length is not trusted: bytes are passed on as they come.
 *
 * While one of the two is not read, the source is not read either, as with a pipe that is full. After `dropUnread` the
 * source is read to its end, and what finds a full stream is dropped.
 */
export function splitStreams(source: Readable): { stdout: Readable; stderr: Readable; dropUnread(): void } {
  let dropping = false
  const full = new Set<Readable>()
  const make = () =>
    new Readable({
      read() {
        full.delete(this)
        if (full.size === 0) source.resume()
      },
    })
  const [stdout, stderr] = [make(), make()]
  const streams: Readonly<Record<number, Readable>> = { 1: stdout, 2: stderr }
  const header = Buffer.alloc(HEADER_BYTES)
  let filled = 0
  let left = 0
  let current = stdout

  source.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; ) {
      if (left === 0) {
        const part = chunk.copy(header, filled, at)
        at += part
        filled += part
        if (filled < HEADER_BYTES) return
        filled = 0
        left = header.readUInt32BE(4)
        const stream = streams[header.readUInt32BE(0) / 2 ** 24]
        if (!stream) return void source.destroy(new Error('the engine sent a frame of an unknown stream'))
        current = stream
      } else {
        const part = chunk.subarray(at, at + left)
        at += part.length
        left -= part.length
        if (dropping && full.has(current)) continue
        if (!current.push(part)) full.add(current)
      }
    }
    if (full.size > 0 && !dropping) source.pause()
  })
  source.once('close', () => {
    stdout.push(null)
    stderr.push(null)
  })
  return {
    stdout,
    stderr,
    dropUnread() {
      dropping = true
      source.resume()
    },
  }
}
