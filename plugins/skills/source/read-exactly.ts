import { once } from 'node:events'
import type { Readable } from 'node:stream'

/** Reads so many bytes, or fails when the stream ends before. The stream must not be flowing. */
export async function readExactly(stream: Readable, count: number): Promise<Buffer> {
  if (count === 0) return Buffer.alloc(0)
  for (;;) {
    const chunk: Buffer | null = stream.read(count)
    if (chunk?.length === count) return chunk
    if (chunk || stream.readableEnded || stream.destroyed) throw new Error('the stream ends too early')
    const woken = new AbortController()
    const events = ['readable', 'end', 'close'].map(event => once(stream, event, { signal: woken.signal }))
    try {
      await Promise.race(events)
    } finally {
      woken.abort()
      await Promise.allSettled(events)
    }
  }
}
