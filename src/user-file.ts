import type { Stats } from 'node:fs'
import { lstat, mkdir, readlink, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { Failure, failures } from './errors.ts'
import { isMissing, writeFileAtomic } from './lib/atomic-file.ts'
import { readBounded, TooLong, TooSlow } from './lib/read-bounded.ts'

const PROBLEMS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder.',
  EACCES: 'you are not allowed to.',
  EPERM: 'you are not allowed to.',
  EROFS: 'that file system can only be read.',
  ENOSPC: 'the disk is full.',
  ENOTDIR: 'a part of the path is not a folder.',
  EEXIST: 'a part of the path is not a folder.',
}

const MOST_BYTES = 16 * 2 ** 20
const PIPE_SECONDS = 30

interface ReadOptions {
  /** Bytes; 16 MiB without it. */
  readonly most?: number
  /** Whether a pipe is read too, which can be done once only. */
  readonly pipes?: boolean
}

/**
 * The text of a file that the user named; `what` says where, e.g. `The --env-file`. It is a regular file or, as the
 * shell makes of `<(command)`, a pipe, whose writers have 30 seconds. Fails with `file_missing` or `file_unreadable`.
 */
export const readUserFile = async (path: string, what: string, options?: ReadOptions): Promise<string> =>
  (await readUserBytes(path, what, options)).toString('utf8')

/** The same without decoding. */
export async function readUserBytes(
  path: string,
  what: string,
  { most = MOST_BYTES, pipes = true }: ReadOptions = {},
): Promise<Buffer> {
  const wrong = (problem: string) => failures.file_unreadable({ what, path, problem })
  const kindOf = (found: Stats): 'file' | 'pipe' => {
    if (found.isFile()) return 'file'
    if (found.isFIFO() && pipes) return 'pipe'
    if (found.isDirectory()) throw wrong('it is a folder.')
    throw wrong(`it is not a regular file${pipes ? ' or a pipe' : ''}.`)
  }
  try {
    kindOf(await stat(path)) // opening a device can already do something, and the file can be another one by then
    const bounds = { most, waitMs: PIPE_SECONDS * 1000 }
    return await readBounded(path, async file => kindOf(await file.stat()), bounds)
  } catch (error) {
    if (error instanceof TooLong) throw wrong(`it is longer than ${most} bytes.`)
    if (error instanceof TooSlow)
      throw wrong(`nobody wrote all into the pipe within ${PIPE_SECONDS} seconds.`)
    throw toFailure(error, path, what)
  }
}

function toFailure(error: unknown, path: string, what: string): unknown {
  if (!(error instanceof Error && 'code' in error) || error instanceof Failure) return error
  const code = String(error.code)
  if (code === 'ENOENT' || code === 'ENOTDIR') return failures.file_missing({ what, path }, { cause: error })
  return failures.file_unreadable({ what, path, problem: PROBLEMS[code] ?? error.message }, { cause: error })
}

/**
 * Writes a file that the user named. A regular file, or the one that a link names, is replaced whole or not at all, for
 * its owner alone or with the permissions of `mode`; into anything else, such as a pipe or `/dev/stdout`, the text is
 * written. Fails with `file_unwritable`.
 */
export async function writeUserFile(
  path: string,
  text: string,
  options: { mode?: number } = {},
): Promise<void> {
  try {
    const target = await followLinks(path)
    await mkdir(dirname(target), { recursive: true, mode: 0o750 })
    const found = await stat(path).catch(ifMissing)
    if (!found || found.isFile()) await writeFileAtomic(target, text, options)
    else await writeFile(path, text)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error) || error instanceof Failure) throw error
    const problem = PROBLEMS[String(error.code)] ?? error.message
    throw failures.file_unwritable({ path, problem }, { cause: error })
  }
}

/** Where a path leads, whether or not there is a file. Each link on the way is checked, also those of folders. */
async function followLinks(path: string): Promise<string> {
  let at = '/'
  let links = 0
  // Not `resolve`: it would apply `..` to the path of a link, not to where the link leads.
  const left = (isAbsolute(path) ? path : `${process.cwd()}/${path}`).split('/')
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    const next = join(at, part)
    const link = await readlink(next).catch(() => undefined)
    if (link === undefined) {
      at = next
      continue
    }
    links += 1
    if (links > MOST_LINKS) throw failures.file_unwritable({ path, problem: 'its links lead in a circle.' })
    await assertTrusted(next)
    if (link.startsWith('/')) at = '/'
    left.unshift(...link.split('/'))
  }
  return at
}

/** The limit of Linux (path_resolution(7)). */
const MOST_LINKS = 40

/**
 * Refuses a link that somebody else has put into a folder where all may write, such as `/tmp`. Linux does not follow these
 * either (`fs.protected_symlinks`), but the link is read here.
 */
async function assertTrusted(link: string): Promise<void> {
  const [{ uid }, folder] = await Promise.all([lstat(link), stat(dirname(link))])
  const isShared = (folder.mode & SHARED) === SHARED
  if (!isShared || uid === folder.uid || uid === process.getuid?.()) return
  const problem = 'it is a link of another user, in a folder where all may write.'
  throw failures.file_unwritable({ path: link, problem })
}

/** Sticky, and writable for all. */
const SHARED = 0o1002

function ifMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
