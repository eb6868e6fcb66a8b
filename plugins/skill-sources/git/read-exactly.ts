import { once } from 'node:events'
import type { Readable } from 'node:stream'

/** Reads exactly `count` bytes. Fails when the stream ends before. The stream must not be flowing. */
export async function readExactly(stream: Readable, count: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let missing = count; missing > 0; ) {
    // Never more than is buffered: otherwise a stream with too few bytes emits "readable" again and again.
    const part: Buffer | null = stream.read(Math.min(missing, stream.readableLength))
    if (part) {
      parts.push(part)
      missing -= part.length
    } else if (stream.readableEnded || stream.destroyed) {
      throw new Error('the stream ends too early')
    } else {
      await change(stream)
    }
  }
  return Buffer.concat(parts)
}

async function change(stream: Readable): Promise<void> {
  const woken = new AbortController()
  const events = ['readable', 'end', 'close'].map(event => once(stream, event, { signal: woken.signal }))
  try {
    await Promise.race(events)
  } finally {
    woken.abort()
    await Promise.allSettled(events)
  }
}
