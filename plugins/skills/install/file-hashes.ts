import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isMissing } from '../../../src/lib/atomic-file.ts'

/** The SHA-256 (hex) of every file below a folder, by its path with slashes. */
export type FileHashes = Readonly<Record<string, string>>

/** Files that programs write when a skill's scripts run or a folder is opened. They do not count as edits. */
const LITTER = /(^|\/)(__pycache__\/.*|\.DS_Store|Thumbs\.db|desktop\.ini)$/

/** Returns undefined when the folder does not exist. The value of a special file is its kind, so that it counts as a change. */
export async function fileHashes(folder: string): Promise<FileHashes | undefined> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(error => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (!entries) return undefined
  const found: [string, string][] = []
  for (const entry of entries) {
    if (entry.isDirectory()) continue
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).split(sep).join('/')
    if (entry.isFile()) found.push([name, await hashFile(path)])
    else found.push([name, entry.isSymbolicLink() ? `link:${await readlink(path)}` : 'special'])
  }
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The differences between two sets of files. */
export interface FileChanges {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly changed: readonly string[]
}

export function compareFiles(before: FileHashes, after: FileHashes): FileChanges {
  return {
    added: Object.keys(after).filter(path => !Object.hasOwn(before, path)),
    removed: Object.keys(before).filter(path => !Object.hasOwn(after, path)),
    changed: Object.keys(after).filter(path => Object.hasOwn(before, path) && before[path] !== after[path]),
  }
}

/** Returns the files that differ from the installed ones, except for those that programs write. */
export function editedFiles(installed: FileHashes, now: FileHashes): string[] {
  const { added, removed, changed } = compareFiles(installed, now)
  return [...changed, ...removed, ...added.filter(path => !LITTER.test(path))]
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
