import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isMissing } from '../../src/lib/atomic-file.ts'
import { processIdentity } from '../../src/lib/process-identity.ts'

/** A client's file as it was read. */
export interface ClientFile {
  /** The file itself, behind symbolic links. */
  readonly target: string
  /** Undefined when there is no file. */
  readonly bytes: Buffer | undefined
  readonly mode: number
}

export async function readClientFile(path: string): Promise<ClientFile> {
  const target = await followLinks(path)
  try {
    const bytes = await readFile(target)
    return { target, bytes, mode: (await stat(target)).mode & 0o777 }
  } catch (error) {
    if (isMissing(error)) return { target, bytes: undefined, mode: 0o600 }
    throw error
  }
}

/** The end of a chain of symbolic links, whether or not there is a file. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const link = await lstat(path).catch(() => undefined)
  if (!link?.isSymbolicLink()) return path
  return followLinks(resolve(dirname(path), await readlink(path)))
}

/**
 * Replaces a client's file as a whole: a reader, or a kill at any moment, sees the old one or the new one.
 * Its mode stays, but with `secret` only the owner may read it; with `backUp`, a copy is left beside it
 * (`<file>.keelson-backup`) unless there is one already.
 *
 * False, and nothing done, when the file is no longer what was read: the client itself may write it at any time.
 */
export async function replaceClientFile(
  path: string,
  read: ClientFile,
  bytes: Buffer,
  options: { backUp: boolean; secret: boolean },
): Promise<boolean> {
  const { target } = read
  if (read.bytes && options.backUp) await backUp(path, read.bytes, read.mode)
  const mode = options.secret ? read.mode & 0o700 : read.mode
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  await sweep(target)
  return viaTemporary(target, bytes, mode, async temporary => {
    const now = await readClientFile(path)
    if (now.target !== target || !isSame(now.bytes, read.bytes)) return false
    await rename(temporary, target)
    return true
  })
}

/** Writes a file beside `path` for `work` to put in place; it is gone afterwards in any case. */
async function viaTemporary<T>(
  path: string,
  bytes: Buffer,
  mode: number,
  work: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}${SUFFIX}`
  try {
    const file = await open(temporary, 'wx', mode)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await chmod(temporary, mode) // the umask may have taken bits away
    return await work(temporary)
  } finally {
    await rm(temporary, { force: true })
  }
}

const SUFFIX = '.keelson-tmp'

/** Deletes what killed processes have left beside the file. */
async function sweep(path: string): Promise<void> {
  const start = `${basename(path)}.`
  for (const file of await readdir(dirname(path))) {
    if (!file.startsWith(start) || !file.endsWith(SUFFIX)) continue
    const pid = Number(file.slice(0, -SUFFIX.length).split('.').at(-2))
    if (pid !== process.pid && processIdentity(pid) === undefined)
      await rm(join(dirname(path), file), { force: true })
  }
}

const isSame = (a: Buffer | undefined, b: Buffer | undefined): boolean => (a && b ? a.equals(b) : a === b)

async function backUp(path: string, bytes: Buffer, mode: number): Promise<void> {
  const copy = `${path}.keelson-backup`
  const there = await lstat(copy).catch(error => (isMissing(error) ? undefined : Promise.reject(error)))
  if (!there) await viaTemporary(copy, bytes, mode, temporary => rename(temporary, copy))
}

const MARK = '\ufeff'

/** The text less its byte order mark; undefined when the bytes are not UTF-8. */
export function decodeText(bytes: Buffer): { text: string; mark: string } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.startsWith(MARK) ? { text: text.slice(1), mark: MARK } : { text, mark: '' }
  } catch {
    return undefined
  }
}
