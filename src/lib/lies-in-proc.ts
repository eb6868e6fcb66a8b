import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Whether a missing folder would have to be made in /proc. mkdir(2) fails there with ENOENT, and Node's recursive `mkdir`
 * then tries again for ever.
 */
export function liesInProc(folder: string): boolean {
  if (existsSync(folder)) return false
  let above = dirname(folder)
  while (!existsSync(above)) above = dirname(above)
  return `${realpathSync(above)}/`.startsWith('/proc/')
}
