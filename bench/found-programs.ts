import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The programs of these that are in the PATH, and those that are not. */
export function findPrograms<T extends { readonly program: string }>(
  wanted: readonly T[],
): { found: T[]; missing: string } {
  const found = wanted.filter(({ program }) => isInPath(program))
  const missing = wanted.filter(one => !found.includes(one)).map(({ program }) => program)
  return { found, missing: missing.join(', ') || 'none' }
}

const isInPath = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some(folder => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
