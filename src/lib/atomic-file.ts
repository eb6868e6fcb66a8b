import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const LEFT_BEHIND_MS = 60 * 60_000

export interface WriteOptions {
  /** The file's permission bits; without it 0600. */
  readonly mode?: number
  /** False where the folder may be removed at the same time, and must not come back: then the write fails. */
  readonly makeFolder?: boolean
}

/** Writes a file so that a reader, or a kill at any moment, sees the old text or the new one, whole. */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600, makeFolder = true }: WriteOptions = {},
): Promise<void> {
  if (makeFolder) await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
  try {
    const file = await open(temporary, 'wx', mode)
    try {
      await file.writeFile(data)
      await file.sync()
    } finally {
      await file.close()
    }
    await chmod(temporary, mode) // the umask may have taken bits away
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Removes what killed writers left in a folder and in the folders of it: temporaries that are an hour old. */
export async function removeLeftBehind(folder: string, { depth = 1, now = Date.now() } = {}): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && depth > 0) await removeLeftBehind(path, { depth: depth - 1, now })
    if (!entry.isFile() || !/\.\d+\.[a-z0-9]+\.tmp$/.test(entry.name)) continue
    const found = await stat(path).catch(() => undefined)
    if (found && now - found.mtimeMs > LEFT_BEHIND_MS) await rm(path, { force: true })
  }
}

/** The file's text, or undefined when there is no such file. */
export async function readFileIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
