import { failures } from '../errors.ts'
import { liesInProc } from '../lib/lies-in-proc.ts'
import type { Paths } from '../paths.ts'

const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'it belongs to somebody else, or its mode forbids that.',
  EPERM: 'that is not permitted.',
  EROFS: 'the file system is read-only.',
  ENOSPC: 'the disk is full.',
  EDQUOT: 'your quota of the disk is used up.',
  ENOTDIR: 'a part of that path is a file, where a folder should be.',
  ELOOP: 'its links lead in a circle.',
}

/** Fails with `folder_unusable` where a folder of keelson's own would have to be made in /proc. */
export function assertUsable(paths: Paths): void {
  const path = Object.values(paths).find(folder => folder !== paths.home && liesInProc(folder))
  const problem = 'folders cannot be made in /proc.'
  if (path !== undefined) throw failures.folder_unusable({ path, home: paths.home, problem })
}

/** An error of the file system in a folder of keelson's own as a failure `folder_unusable`. Any other error stays. */
export function toFolderFailure(error: unknown, paths: Paths): unknown {
  if (!(error instanceof Error) || !('code' in error) || !('path' in error)) return error
  const { code, path } = error
  const problem = PROBLEMS[String(code)]
  const isOwn = Object.values(paths).some(folder => folder !== paths.home && String(path).startsWith(folder))
  return problem && isOwn
    ? failures.folder_unusable({ path: String(path), home: paths.home, problem }, { cause: error })
    : error
}
