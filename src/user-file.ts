import { constants } from 'node:fs'
import { mkdir, open, readFile, readlink, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Failure, failures } from './errors.ts'
import { isMissing, writeFileAtomic } from './lib/atomic-file.ts'

const PROBLEMS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder.',
  EACCES: 'you are not allowed to.',
  EPERM: 'you are not allowed to.',
  EROFS: 'that file system can only be read.',
  ENOSPC: 'the disk is full.',
  ENOTDIR: 'a part of the path is not a folder.',
  EEXIST: 'a part of the path is not a folder.',
}

/**
 * The text of a file that the user named; `what` says where, e.g. `The --env-file`. Fails with
 * `file_missing` or `file_unreadable`.
 */
export async function readUserFile(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
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
 * The text of a regular file that the user named, or of one that a link names, of at most `most` bytes. Nothing else is
 * read or waited for, such as a FIFO or a device. Fails as `readUserFile` does.
 */
export async function readRegularFile(path: string, what: string, most: number): Promise<string> {
  const wrong = (problem: string) => failures.file_unreadable({ what, path, problem })
  try {
    // Opening a device can already do something, and the file can be another one by then.
    if (!(await stat(path)).isFile()) throw wrong(NO_FILE)
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    if (!(await file.stat()).isFile()) throw wrong(NO_FILE)
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      length += chunk.length
      if (length > most) throw wrong(`it is longer than ${most} bytes.`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } catch (error) {
    throw toFailure(error, path, what)
  }
}

const NO_FILE = 'it is not a regular file.'

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
    await mkdir(dirname(path), { recursive: true, mode: 0o750 })
    const target = await followLink(path)
    const found = await stat(target).catch(ifMissing)
    if (!found || found.isFile()) await writeFileAtomic(target, text, options)
    else await writeFile(target, text)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const problem = PROBLEMS[String(error.code)] ?? error.message
    throw failures.file_unwritable({ path, problem }, { cause: error })
  }
}

/** Where a link leads, whether or not there is a file. */
async function followLink(path: string): Promise<string> {
  const link = await readlink(path).catch(() => undefined)
  if (link === undefined) return path
  const found = await realpath(path).catch(ifMissing)
  return found ?? resolve(dirname(path), link)
}

function ifMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}
