import { appendFile, mkdir, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A log file of bounded size. Lines are written in order, in the background. */
export interface RotatingFile {
  write(line: string): void
  /** Resolves when all lines so far are written. */
  flush(): Promise<void>
}

/** Lines that wait while the disk is slow; beyond it the newest are dropped, so that memory stays bounded. */
const MAX_PENDING = 1_000_000

/**
 * Appends to a file; at `maxBytes` it becomes `<file>.1` (which is lost) and a new one begins.
 * No file stays open, so a hundred of them cost nothing while nothing is written.
 */
export function createRotatingFile(path: string, options: { maxBytes: number }): RotatingFile {
  let pending = ''
  let running: Promise<void> | undefined
  let size: number | undefined

  async function drain(): Promise<void> {
    while (pending) {
      const text = pending
      pending = ''
      try {
        size ??= await sizeOf(path)
        if (size > 0 && size + text.length > options.maxBytes) {
          await rename(path, `${path}.1`)
          size = 0
        }
        await append(path, text)
        size += Buffer.byteLength(text)
      } catch {
        size = undefined // a full or read-only disk must not stop a proxy; the next line tries again
      }
    }
    running = undefined
  }

  return {
    write(line) {
      if (pending.length > MAX_PENDING) return
      pending += line
      running ??= drain()
    },
    async flush() {
      while (running) await running
    },
  }
}

async function append(path: string, text: string): Promise<void> {
  try {
    await appendFile(path, text, { mode: 0o600 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await appendFile(path, text, { mode: 0o600 })
  }
}

/** The size of a file; 0 when it is not there. */
export const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )
