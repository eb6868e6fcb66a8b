import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs'
import { failures, messageOf } from './errors.ts'

/**
 * Makes a folder that only this user can use, or makes an existing one of this user's private. Another
 * user can guess the name of one in the temporary folder and create it first: that fails with
 * `folder_not_private`.
 */
export function ensurePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    assertPrivateFolder(path)
    throw failures.file_unwritable({ path, problem: messageOf(error) }, { cause: error })
  }
  assertPrivateFolder(path)
  chmodSync(path, 0o700)
}

/** Fails with `folder_not_private` where others can put files into the folder. A missing folder passes. */
export function assertPrivateFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  const problem = found && process.getuid && problemOf(found, process.getuid())
  if (problem) throw failures.folder_not_private({ path, problem })
}

/** Whether there is such a folder, and nobody else can put files into it. */
export function isPrivateFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && !(process.getuid && problemOf(found, process.getuid()))
}

function problemOf(found: Stats, own: number): string | undefined {
  if (found.isSymbolicLink()) return 'it is a link'
  if (!found.isDirectory()) return 'it is not a folder'
  if (found.uid !== own) return `it belongs to the user with the number ${found.uid}`
  if (found.mode & 0o022) return `others may write to it (mode ${(found.mode & 0o777).toString(8)})`
  return undefined
}
