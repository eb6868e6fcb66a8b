import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { contentDigest } from '../../skill-artifacts/index.ts'
import type { ClientFolders } from '../install/client-folders.ts'
import { editedFiles, fileHashes } from '../install/file-hashes.ts'
import type { InstalledState } from '../install/installed-state.ts'
import type { LockEntry } from '../lock/lock-entry.ts'

/** How a project's folders differ from its lock file; names of skills, sorted. */
export interface LockComparison {
  readonly missing: readonly string[]
  readonly drifted: readonly string[]
  readonly current: readonly string[]
  /** Installed by keelson, and not in the lock file. */
  readonly removedFromLock: readonly string[]
  /** In a client's folder, neither installed by keelson nor in the lock file. */
  readonly neverManaged: readonly string[]
  /** The clients that each skill of the lock file should be installed for. */
  readonly clients: ReadonlyMap<string, readonly string[]>
}

/** `chosen`: the requested clients; empty for those that have a skill, or are installed on this machine. */
export async function compareLock(
  state: InstalledState,
  folders: ClientFolders,
  chosen: readonly string[],
): Promise<LockComparison> {
  const { place, records, pins } = state
  const clients = new Map<string, readonly string[]>()
  const found: Record<'missing' | 'drifted' | 'current', string[]> = { missing: [], drifted: [], current: [] }
  for (const entry of pins.values()) {
    const expected = chosen.length ? chosen : await expectedClients(entry)
    clients.set(entry.name, expected)
    found[await stateOf(entry, expected)].push(entry.name)
  }

  /** Before the first installation: all clients of this machine, or those that have the folder. */
  async function expectedClients({ name }: LockEntry): Promise<readonly string[]> {
    const record = records.get(name)
    if (record) return record.clients
    const here = await folders.choose([]).catch(() => undefined)
    if (here) return here
    const present: string[] = []
    for (const folder of folders.all(place)) {
      if (await isFolder(join(folder.path, name))) present.push(...folder.clients)
    }
    return present
  }

  async function stateOf(
    entry: LockEntry,
    expected: readonly string[],
  ): Promise<'missing' | 'drifted' | 'current'> {
    const record = records.get(entry.name)
    const isSame = record?.digest === entry.digest
    let there = 0
    let right = 0
    const targets = folders.of(place, expected).map(({ path }) => join(path, entry.name))
    for (const target of targets) {
      if (!(await isFolder(target))) continue
      there++
      const files = record && isSame ? await fileHashes(target) : undefined
      const isRight = files
        ? editedFiles(record?.files ?? {}, files).length === 0
        : (await contentDigest(target)) === entry.contentDigest
      if (isRight) right++
    }
    if (targets.length > 0 && right === targets.length) return 'current'
    return there === 0 && !record ? 'missing' : 'drifted'
  }

  const known = new Set([...records.keys(), ...pins.keys()])
  return {
    ...found,
    removedFromLock: [...records.keys()].filter(name => !pins.has(name)),
    neverManaged: (await skillsIn(folders.all(place).map(({ path }) => path))).filter(
      name => !known.has(name),
    ),
    clients,
  }
}

/** Returns the names of the folders with a SKILL.md. */
async function skillsIn(parents: readonly string[]): Promise<string[]> {
  const names = new Set<string>()
  for (const parent of parents) {
    const entries = await readdir(parent, { withFileTypes: true }).catch(error => {
      if (isMissing(error)) return []
      throw error
    })
    for (const entry of entries) {
      if (
        entry.isDirectory() &&
        !entry.name.startsWith('.') &&
        (await isFile(join(parent, entry.name, 'SKILL.md')))
      )
        names.add(entry.name)
    }
  }
  return [...names].sort()
}

const isFolder = async (path: string): Promise<boolean> => (await lookAt(path))?.isDirectory() ?? false
const isFile = async (path: string): Promise<boolean> => (await lookAt(path))?.isFile() ?? false

async function lookAt(path: string) {
  try {
    return await lstat(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
