import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readFile, stat, truncate, watch } from 'node:fs/promises'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Two files at most this big: the log and the one before it. */
const LOG_CAP = 8 * 2 ** 20

/**
 * Copies a log that has become too long to `<path>.1` and empties it in place. The instance itself appends to
 * the open file, so the file cannot be replaced. It may empty the file meanwhile: `copyFile` would then never end,
 * because libuv waits for the bytes that the file had at first.
 */
export async function capLog(path: string, cap = LOG_CAP): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (!found || found.size <= cap) return
  await pipeline(
    createReadStream(path, { end: found.size - 1 }),
    createWriteStream(`${path}.1`, { mode: 0o600 }),
  )
  await truncate(path, 0)
}

/** Appends to a log, within its cap. */
export async function openLogWriter(path: string, cap = LOG_CAP): Promise<Writable> {
  const file = await open(path, 'a', 0o600)
  let size = (await file.stat()).size
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      const append = async () => {
        await file.appendFile(chunk)
        size += chunk.length
        if (size <= cap) return
        await capLog(path, cap)
        size = 0
      }
      append().then(() => done(), done)
    },
    destroy(error, done) {
      file.close().then(() => done(error), done)
    },
  })
}

/** A log's text, its last lines, and what comes as long as `isLive` says so. */
export function readLog(
  path: string,
  options: {
    follow?: boolean | undefined
    lines?: number | undefined
    signal?: AbortSignal | undefined
    isLive: () => Promise<boolean>
  },
): Readable {
  return Readable.from(chunks(path, options), { objectMode: false })
}

async function* chunks(
  path: string,
  { follow = false, lines = 0, signal, isLive }: Parameters<typeof readLog>[1],
): AsyncGenerator<Buffer> {
  const before = await readFile(`${path}.1`).catch(() => Buffer.alloc(0))
  const now = await readFile(path).catch(() => Buffer.alloc(0))
  const all = lastOf(Buffer.concat([before, now]), lines)
  if (all.length > 0) yield all
  if (!follow) return
  let position = now.length
  for (;;) {
    // Checked before reading, so that what was written before the end is still read.
    const live = !signal?.aborted && (await isLive())
    for (let chunk = await readFrom(path, position); chunk; chunk = await readFrom(path, position)) {
      position = chunk.end
      yield chunk.bytes
    }
    if (!live) return
    await changed(path, signal)
  }
}

function lastOf(text: Buffer, lines: number): Buffer {
  if (lines <= 0) return text
  let at = text.length - (text.at(-1) === 10 ? 1 : 0)
  for (let line = 0; line < lines; line++) {
    at = at <= 0 ? -1 : text.lastIndexOf(10, at - 1)
    if (at < 0) return text
  }
  return text.subarray(at + 1)
}

const CHUNK = 256 * 1024

async function readFrom(path: string, position: number): Promise<{ bytes: Buffer; end: number } | undefined> {
  const file = await open(path, 'r').catch(() => undefined)
  if (!file) return undefined
  try {
    const { size } = await file.stat()
    const start = size < position ? 0 : position // it was emptied in between
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, start)
    return bytesRead > 0 ? { bytes: buffer.subarray(0, bytesRead), end: start + bytesRead } : undefined
  } finally {
    await file.close()
  }
}

/** Until the file changes, or a second at most: an end of the instance does not show in the file. */
async function changed(path: string, signal: AbortSignal | undefined): Promise<void> {
  const second = AbortSignal.timeout(1000)
  const over = signal ? AbortSignal.any([signal, second]) : second
  try {
    for await (const _ of watch(path, { signal: over })) return
  } catch {
    if (!over.aborted) await once(over, 'abort') // the file is not there
  }
}
