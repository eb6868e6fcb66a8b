import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { failures } from './errors.ts'
import { writeFileAtomic } from './lib/atomic-file.ts'

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
    if (!(error instanceof Error && 'code' in error)) throw error
    const code = String(error.code)
    if (code === 'ENOENT' || code === 'ENOTDIR') throw failures.file_missing({ what, path }, { cause: error })
    throw failures.file_unreadable({ what, path, problem: PROBLEMS[code] ?? error.message }, { cause: error })
  }
}

/** Writes a file that the user named, whole or not at all, for its owner alone. Fails with `file_unwritable`. */
export async function writeUserFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o750 })
    await writeFileAtomic(path, text)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const problem = PROBLEMS[String(error.code)] ?? error.message
    throw failures.file_unwritable({ path, problem }, { cause: error })
  }
}
