import type { Stats } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'

/** Something that lies in a skill's folder. */
export interface TreeMember {
  /** From the folder on, with slashes. */
  readonly path: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  readonly executable: boolean
}

/** How deep folders may be nested. */
export const DEEPEST = 64

/**
 * Everything below a folder, parents before their content, in no fixed order. Links are told, never
 * followed. Nothing below a folder that is nested too deep is told: the folder itself is refused already.
 * Fails with ENOENT when the folder is not there, with `skill_unreadable` when something may not be read.
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

/** A name that is not UTF-8 reads as another, which is not there. */
function kindOf(stats: Stats | undefined): TreeMember['kind'] {
  if (!stats) return 'other'
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  return stats.isSymbolicLink() ? 'link' : 'other'
}

/** Whether a path has a part that begins with a dot. */
export const isHidden = (path: string): boolean => path.split('/').some(name => name.startsWith('.'))
