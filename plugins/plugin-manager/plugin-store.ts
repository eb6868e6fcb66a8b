import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { failures as core, isFailure, messageOf } from '../../src/errors.ts'
import { isMissing, readFileIfThere, writeFileAtomic } from '../../src/lib/atomic-file.ts'
import { tryLock, withLock } from '../../src/lib/file-lock.ts'
import { hashTree } from '../../src/lib/hash-tree.ts'
import { pluginLockPath } from '../../src/loader.ts'
import type { Paths } from '../../src/paths.ts'
import {
  installFolder,
  type PluginRecord,
  pluginsFolder,
  readPluginLock,
  writePluginLock,
} from '../../src/third-party.ts'
import { failures } from './failures.ts'

const LOCK_SECONDS = 10
const STAGING = 'new-'

/** A folder to prepare a plugin in, beside its final place. No other process changes it until it is released. */
interface Staging {
  readonly folder: string
  discard(): Promise<void>
}

/**
 * The folder of added plugins on disk. What counts is the lock file; folders it does not name are leftovers.
 */
export interface PluginStore {
  read(): Promise<PluginRecord[]>
  stage(): Promise<Staging>
  /**
   * Changes the list in one step. `change` gets the present list and returns the new one;
   * `staged` is moved to its final place before, and what no record needs is removed after.
   */
  update(
    change: (records: readonly PluginRecord[]) => PluginRecord[],
    staged?: { folder: string; record: PluginRecord },
  ): Promise<void>
}

export function createPluginStore(paths: Paths): PluginStore {
  const root = pluginsFolder(paths)
  const lockFile = pluginLockPath(paths)

  async function read(): Promise<PluginRecord[]> {
    const text = await readFileIfThere(lockFile)
    if (text === undefined) return []
    try {
      return readPluginLock(text, lockFile)
    } catch (error) {
      if (!isFailure(error, 'invalid_file')) throw error
      throw failures.plugin_lock_broken({ problem: messageOf(error) }, { cause: error })
    }
  }

  return {
    read,
    async stage() {
      const folder = join(root, `${STAGING}${randomBytes(6).toString('hex')}`)
      const lock = await tryLock(`${folder}.lock`)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      return {
        folder,
        async discard() {
          await rm(folder, { recursive: true, force: true })
          await lock?.release()
        },
      }
    },
    async update(change, staged) {
      await withLock(
        `${lockFile}.lock`,
        async () => {
          const records = change(await read())
          if (staged)
            await moveIn(staged.folder, installFolder(paths, staged.record), staged.record.integrity)
          await writeFileAtomic(lockFile, writePluginLock(records))
          await sweep(root, new Set(records.map(record => basename(installFolder(paths, record)))))
        },
        {
          timeoutMs: LOCK_SECONDS * 1000,
          onTimeout: () => core.locked({ path: lockFile, seconds: LOCK_SECONDS }),
        },
      )
    },
  }
}

/**
 * The final folder is named after its content, so one that is there already is kept, unless it was damaged.
 */
async function moveIn(from: string, to: string, integrity: string): Promise<void> {
  const there = await hashTree(to).catch(() => undefined)
  if (there === integrity) return
  await rm(to, { recursive: true, force: true })
  await rename(from, to)
}

/** Removes installed folders that no record names, and what killed processes were preparing. */
async function sweep(root: string, named: ReadonlySet<string>): Promise<void> {
  const entries = await readdir(root).catch(error => (isMissing(error) ? [] : Promise.reject(error)))
  for (const entry of entries) {
    const path = join(root, entry)
    if (/@[0-9a-f]{16}$/.test(entry) && !named.has(entry)) await rm(path, { recursive: true, force: true })
  }
  const staged = entries.filter(entry => entry.startsWith(STAGING)).map(entry => entry.replace(/\..*$/, ''))
  for (const folder of new Set(staged)) {
    const lock = await tryLock(join(root, `${folder}.lock`))
    if (!lock) continue
    await rm(join(root, folder), { recursive: true, force: true })
    await lock.release()
  }
}
