import { randomBytes } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An open file for a program to inherit. */
export interface NamelessFile {
  readonly fd: number
  /** Where the program finds it, if it inherits it as file descriptor 3. */
  readonly path: string
}

/**
 * Lets the work read text from an open file whose name was removed. Nothing stays on disk, even when this
 * process is killed. Windows has no such files, so there the file has a name until the work ends.
 */
export async function withNamelessFile<T>(
  text: string,
  work: (file: NamelessFile) => Promise<T>,
): Promise<T> {
  const path = join(tmpdir(), `keelson-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  try {
    const named = process.platform === 'win32'
    if (!named) await rm(path)
    // Written at a position, so that the program begins to read at the start.
    await file.write(text, 0)
    return await work({ fd: file.fd, path: named ? path : '/dev/fd/3' })
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}
