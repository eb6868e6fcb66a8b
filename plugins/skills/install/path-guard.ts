import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'

/**
 * Fails with `skill_folder_unsafe` when something on the way from a base folder to a path is a link, or
 * no folder: what is written below would land elsewhere. The base itself may be reached through links.
 */
export async function assertPlainPath(base: string, path: string): Promise<void> {
  const below = relative(base, path)
  if (below === '' || below.startsWith('..') || isAbsolute(below))
    throw failures.skill_folder_unsafe({ path, problem: `it is not below ${base}` })
  let current = base
  for (const part of below.split(sep)) {
    current = join(current, part)
    const facts = await lstat(current).catch(error => {
      if (isMissing(error)) return undefined
      throw error
    })
    if (!facts) return
    if (facts.isSymbolicLink())
      throw failures.skill_folder_unsafe({ path: current, problem: 'it is a symbolic link' })
    if (!facts.isDirectory())
      throw failures.skill_folder_unsafe({ path: current, problem: 'it is not a folder' })
  }
}
