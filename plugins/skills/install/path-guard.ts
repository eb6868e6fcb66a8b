import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { failures } from '../failures.ts'

/**
 * Fails with `skill_folder_unsafe` when a part of a path below its base folder is a link, or anything but a
 * folder, because files would be written to another place. Links above the base folder are allowed.
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
