import { createHash } from 'node:crypto'
import { readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/**
 * One hash over everything below a folder: names, contents and links, in a fixed order.
 *
 * A link that leaves the folder is refused, since what it names could change without the hash knowing.
 */
export async function hashTree(folder: string): Promise<string> {
  const root = await realpath(folder)
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const members = entries
    .filter(entry => !entry.isDirectory())
    .map(entry => ({ path: join(entry.parentPath, entry.name), entry }))
  if (members.length === 0) throw new Error(`${folder} is empty`)
  const hash = createHash('sha512')
  for (const { path, entry } of members.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const name = relative(root, path).split(sep).join('/')
    if (!entry.isFile() && !entry.isSymbolicLink()) throw new Error(`${name} is neither a file nor a link`)
    const content = entry.isFile() ? await readFile(path) : Buffer.from(await linkInside(path, name, root))
    hash.update(`${name}\0${entry.isFile() ? 'file' : 'link'}\0${content.length}\0`).update(content)
  }
  return `sha512-${hash.digest('base64')}`
}

async function linkInside(path: string, name: string, root: string): Promise<string> {
  const target = await realpath(path).catch(() => undefined)
  if (!target?.startsWith(root + sep)) throw new Error(`${name} is a link to nothing, or out of the folder`)
  return readlink(path)
}
