import { readlink } from 'node:fs/promises'
import { isAbsolute, join, parse, posix, relative, resolve, sep } from 'node:path'
import type { Mount } from '../../../src/contracts/runtime.ts'
import { runtimeFailures } from '../../../src/contracts/runtime-failures.ts'

/** The most symbolic links on one path, as in the kernel (path_resolution(7)). */
const MOST_LINKS = 40

/**
 * Fails with `mount_through_link` when a mount leads through a link in a folder that the server may write:
 * it may have made the link to reach another path at this start. Both ends of a mount are checked, since its
 * target may lie in the target of another mount.
 */
export async function assertMountsHold(mounts: readonly Mount[]): Promise<void> {
  const writable = mounts.filter(({ readOnly }) => !readOnly)
  const folders = await Promise.all(writable.map(async ({ source }) => (await follow(source)).place))
  for (const { source, target } of mounts) {
    const targets = writable
      .map(outer => join(outer.source, posix.relative(outer.target, target)))
      .filter((path, index) => isInside(path, writable[index]?.source ?? ''))
    for (const path of [source, ...targets]) {
      for (const link of (await follow(path)).links) {
        const folder = folders.find(folder => isInside(link, folder))
        if (folder !== undefined) throw runtimeFailures.mount_through_link({ path, link, folder })
      }
    }
  }
}

function isInside(path: string, folder: string): boolean {
  const rest = relative(folder, path)
  return rest !== '' && rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest)
}

/** Where a path leads, and the links on it. A part that cannot be read counts as a link. */
async function follow(path: string): Promise<{ place: string; links: string[] }> {
  const { root } = parse(path)
  const links: string[] = []
  let place = root
  const rest = path.slice(root.length).split(sep)
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = resolve(place, part)
    const text = await readlink(next).catch((error: NodeJS.ErrnoException) => {
      if (!['EINVAL', 'ENOENT', 'ENOTDIR'].includes(error.code ?? '')) links.push(next)
      return undefined
    })
    if (text === undefined) place = next
    else {
      links.push(next)
      if (links.length > MOST_LINKS) break
      if (isAbsolute(text)) place = root
      rest.unshift(...text.split(sep))
    }
  }
  return { place, links }
}
