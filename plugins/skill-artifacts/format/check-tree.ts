import { lstat } from 'node:fs/promises'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'
import { createCollisionCheck, pathProblem, printable } from './member-path.ts'
import { LIMITS } from './skill-limits.ts'
import { DEEPEST, walkTree } from './walk-tree.ts'

/** A file or folder that a skill must not have, and why. */
export interface TreeProblem {
  /** Relative to the skill's folder, with slashes. Empty: the folder itself. */
  readonly path: string
  readonly problem: string
}

/**
 * Checks all files of a skill's folder, hidden ones too, and yields those that must not be in it: links,
 * special files, odd names, names that are equal on some file systems, too many or too large files.
 */
export async function* treeProblems(
  folder: string,
  options: { skip?: (path: string) => boolean } = {},
): AsyncGenerator<TreeProblem> {
  const root = await lstat(folder).catch(error => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (root?.isSymbolicLink()) yield { path: '', problem: 'it is a link' }
  else if (!root?.isDirectory())
    yield { path: '', problem: root ? 'it is not a folder' : 'it does not exist' }
  if (!root?.isDirectory()) return
  const collisions = createCollisionCheck()
  let files = 0
  let total = 0
  for await (const { path, kind, size } of walkTree(folder, options)) {
    const odd = pathProblem(path)
    if (odd) yield { path, problem: `its name is not allowed: ${odd}` }
    else if (kind === 'link') yield { path, problem: 'it is a link' }
    else if (kind === 'other') yield { path, problem: 'it is neither a file nor a folder' }
    if (path.split('/').length >= DEEPEST) yield { path, problem: 'it is nested too deep' }
    if (kind !== 'file' && kind !== 'folder') continue
    const other = collisions.add(path, kind)
    if (other !== undefined) {
      yield { path, problem: `on some file systems it is the same as "${printable(other)}"` }
    }
    if (kind !== 'file') continue
    total += size
    if (size > LIMITS.fileBytes) yield { path, problem: `it is larger than ${mib(LIMITS.fileBytes)}` }
    if (++files === LIMITS.files + 1) yield { path: '', problem: `it has more than ${LIMITS.files} files` }
    if (total > LIMITS.totalBytes && total - size <= LIMITS.totalBytes) {
      yield { path: '', problem: `its files have more than ${mib(LIMITS.totalBytes)}` }
    }
  }
}

const mib = (bytes: number): string => `${bytes / 1024 / 1024} MiB`

/** Returns a problem as a sentence: `"a/b" is refused: it is a link.` */
export const describeProblem = ({ path, problem }: TreeProblem): string =>
  `${path === '' ? 'The folder' : `"${printable(path)}"`} is refused: ${problem}.`

/**
 * Fails with `skill_tree_refused` unless the folder holds only ordinary files and folders within the
 * limits. The `.git` of a repository is refused too: the caller passes a folder without it.
 */
export async function checkTree(folder: string): Promise<void> {
  for await (const problem of treeProblems(folder)) {
    throw failures.skill_tree_refused({ problem: describeProblem(problem) })
  }
}
