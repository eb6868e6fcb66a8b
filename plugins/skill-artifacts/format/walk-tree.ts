import type { Stats } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'

/** A file, folder or link below a skill's folder. */
export interface TreeMember {
  /** Relative to the skill's folder, with slashes. */
  readonly path: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  readonly executable: boolean
}

/** Most levels of nested folders. */
export const DEEPEST = 64

/**
 * Yields all members below a folder, parents before their content, in no fixed order. Links are yielded
 * and not followed. The content of a folder at the level `DEEPEST` is not read, because that folder is
 * refused already. Fails with ENOENT when the folder does not exist, with `skill_unreadable` when
 * something may not be read.
 */
export async function* walkTree(
  folder: string,
  { skip = () => false, below = '' }: { skip?: (path: string) => boolean; below?: string } = {},
): AsyncGenerator<TreeMember> {
  const here = join(folder, below)
  for await (const { name } of await opendir(here).catch(error => Promise.reject(toFailure(error, here)))) {
    const path = below === '' ? name : `${below}/${name}`
    if (skip(path)) continue
    const stats = await lstat(join(folder, path)).catch(error => {
      if (isMissing(error)) return undefined
      throw toFailure(error, join(folder, path))
    })
    const kind = kindOf(stats)
    yield { path, kind, size: stats?.size ?? 0, executable: ((stats?.mode ?? 0) & 0o111) !== 0 }
    if (kind === 'folder' && path.split('/').length < DEEPEST) yield* walkTree(folder, { skip, below: path })
  }
}

function toFailure(error: unknown, path: string): unknown {
  if (isMissing(error) || !(error instanceof Error && 'code' in error)) return error
  return failures.skill_unreadable({ path, problem: `${error.code}.` }, { cause: error })
}

/** Without `stats` the file was not found: Node decodes a name that is not UTF-8 to another name. */
function kindOf(stats: Stats | undefined): TreeMember['kind'] {
  if (!stats) return 'other'
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  return stats.isSymbolicLink() ? 'link' : 'other'
}

/** Whether a part of a path begins with a dot. */
export const isHidden = (path: string): boolean => path.split('/').some(name => name.startsWith('.'))
