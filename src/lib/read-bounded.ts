import { constants } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 20
const CHUNK = 64 * 1024

/** The content is longer than the reader takes. */
export class TooLong extends Error {}
/** A pipe into which nobody has written all within the time. */
export class TooSlow extends Error {}

export interface Bounds {
  /** Bytes. */
  readonly most: number
  /** How long the writers of a pipe may take, in milliseconds. */
  readonly waitMs: number
}

/**
 * Reads a regular file or a pipe to its end. It is opened without waiting: to open a pipe that nobody writes into would
 * block a thread of this process for ever. Fails with `TooLong` and `TooSlow`.
 */
export async function readBounded(
  path: string,
  accepts: (file: FileHandle) => Promise<'file' | 'pipe'>,
  { most, waitMs }: Bounds,
): Promise<Buffer> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  // Nobody can open a pipe without a name any more, so its end is its end, even if it was empty.
  const hasName =
    (await accepts(file)) === 'pipe' && (await realpath(path).catch(() => undefined)) !== undefined
  const deadline = Date.now() + waitMs
  const chunks: Buffer[] = []
  let length = 0
  for (;;) {
    const bytes = await readSome(file)
    if (bytes?.length) {
      chunks.push(bytes)
      length += bytes.length
      if (length > most) throw new TooLong()
    } else if (bytes && (length > 0 || !hasName)) return Buffer.concat(chunks)
    else if (Date.now() > deadline) throw new TooSlow()
    else await delay(POLL_MS)
  }
}

/** Undefined: a writer has the pipe open and has written nothing new. */
async function readSome(file: FileHandle): Promise<Buffer | undefined> {
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK)
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined
    throw error
  }
}
