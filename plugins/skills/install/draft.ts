import { join } from 'node:path'
import { failures as lockFailures } from '../lock/failures.ts'
import { entryProblem, graphProblem, type LockEntry } from '../lock/lock-entry.ts'
import type { ClientFolders } from './client-folders.ts'
import { failures } from './failures.ts'
import { compareFiles, editedFiles, type FileHashes, fileHashes } from './file-hashes.ts'
import type { FileStep, GroupStep } from './journal.ts'
import { assertPlainPath } from './path-guard.ts'
import type { SkillRecord } from './record.ts'
import type { RecordStore } from './record-store.ts'
import type { Situation } from './situation.ts'
import type { Change } from './transaction.ts'

/** How a skill's folder may be treated that is not as we left it. */
export interface Treatment {
  /** Edits and what others have put there are given up. */
  readonly force: boolean
  /** Edits of what stays the same content anyway are left, and no error. */
  readonly tolerant?: boolean
  /** A folder of others that holds the very content is taken over. */
  readonly claim?: boolean
  /** So is one that holds something else, which is given up. */
  readonly adopt?: boolean
}

/** A change that is being put together: what will be installed, pinned, written and removed. */
export interface Draft {
  readonly records: ReadonlyMap<string, SkillRecord>
  readonly pins: ReadonlyMap<string, LockEntry>
  /** Installs a fetched skill's content, or only what is missing of it. Answers the folders it will write. */
  put(record: SkillRecord, folder: string, treatment: Treatment): Promise<string[]>
  /** Keeps what is on disk and changes what is known of it. */
  note(record: SkillRecord): void
  /** Takes a skill away. */
  remove(name: string, treatment: Treatment): Promise<void>
  /** Takes away what a skill needed before and no longer does, where nothing else needs it. */
  release(parent: string, requires: readonly string[], treatment: Treatment): Promise<void>
  /** From now on the skill of that name is pinned to this; in a project the lock file says so. */
  pin(entry: LockEntry): void
  join(step: GroupStep): void
  toChange(): Change
  isEmpty(): boolean
}

export function createDraft(
  situation: Situation,
  { store, folders }: { store: RecordStore; folders: ClientFolders },
): Draft {
  const { place, lock } = situation
  const records = new Map(situation.records)
  const pins = new Map(situation.pins)
  const changes: Change['folders'][number][] = []
  const groups: GroupStep[] = []

  async function put(record: SkillRecord, folder: string, treatment: Treatment): Promise<string[]> {
    const before = records.get(record.name)
    const own = new Set(folders.of(place, before?.clients ?? []).map(({ path }) => path))
    const written: string[] = []
    for (const client of folders.of(place, record.clients)) {
      const target = join(client.path, record.name)
      await assertPlainPath(client.base, target)
      const found = await fileHashes(target)
      const mine = own.has(client.path) ? before : undefined
      if (found && !shouldWrite(record, mine, found, target, treatment)) continue
      changes.push({
        target,
        keep: client.keep,
        next: { folder, contentDigest: record.content_digest },
      })
      written.push(target)
    }
    note(record)
    return written
  }

  function note(record: SkillRecord): void {
    records.set(record.name, record)
  }

  async function remove(name: string, { force }: Treatment): Promise<void> {
    const record = records.get(name)
    for (const client of record ? folders.of(place, record.clients) : []) {
      const target = join(client.path, name)
      await assertPlainPath(client.base, target)
      const found = await fileHashes(target)
      if (!found || !record) continue
      if (!force) assertUnedited(record, found, target)
      changes.push({ target, keep: client.keep })
    }
    records.delete(name)
    pins.delete(name)
    await release(name, [], { force })
  }

  async function release(parent: string, requires: readonly string[], treatment: Treatment): Promise<void> {
    for (const [name, pin] of [...pins]) {
      if (!pin.requiredBy?.includes(parent) || requires.includes(name)) continue
      const requiredBy = pin.requiredBy.filter(other => other !== parent)
      if (requiredBy.length === 0 && !pin.explicit) {
        await remove(name, treatment)
        continue
      }
      pins.set(name, { ...pin, requiredBy })
      const record = records.get(name)
      if (record) records.set(name, { ...record, required_by: requiredBy })
    }
  }

  function files(): FileStep[] {
    const steps: FileStep[] = []
    const add = (path: string, before: string | undefined, after: string | undefined, mode: number) => {
      if (before !== after) steps.push({ path, before: before ?? null, after: after ?? null, mode })
    }
    add(store.pathOf(place), store.toText(place, situation.records), store.toText(place, records), 0o600)
    if (lock && !sameMap(pins, situation.pins)) {
      assertLockable(lock.path, [...pins.values()])
      add(lock.path, lock.text, lock.withEntries(pins), 0o644)
    }
    return steps
  }

  return {
    records,
    pins,
    put,
    note,
    remove,
    release,
    pin(entry) {
      if (JSON.stringify(entry) !== JSON.stringify(pins.get(entry.name))) pins.set(entry.name, entry)
    },
    join: step => void groups.push(step),
    toChange: () => ({ folders: changes, files: files(), groups }),
    isEmpty: () => changes.length === 0 && groups.length === 0 && files().length === 0,
  }
}

/** Whether a folder that is there has to be replaced. Fails when that would lose what is not ours. */
function shouldWrite(
  record: SkillRecord,
  before: SkillRecord | undefined,
  found: FileHashes,
  target: string,
  { force, tolerant = false, claim = false, adopt = false }: Treatment,
): boolean {
  if (!before) {
    if (claim && editedFiles(record.files, found).length === 0) return false
    if (!force && !adopt) throw failures.skill_folder_foreign({ path: target })
    return true
  }
  const isSame = before.digest === record.digest
  const edits = editedFiles(before.files, found)
  if (edits.length === 0) return !isSame
  if (isSame && tolerant) return false
  if (!force) throw failures.skill_edited({ name: record.name, path: target, files: edits })
  return !isUnchanged(record.files, found)
}

/** What would not be read again is not written (a signer's name that is too long, say). */
function assertLockable(path: string, entries: readonly LockEntry[]): void {
  const problem = entries.map(entryProblem).find(Boolean) ?? graphProblem(entries)
  if (problem) throw lockFailures.skill_lock_invalid({ path, problem })
}

const isUnchanged = (a: FileHashes, b: FileHashes): boolean =>
  Object.values(compareFiles(a, b)).every(list => list.length === 0)

function assertUnedited(record: SkillRecord, found: FileHashes, target: string): void {
  const edits = editedFiles(record.files, found)
  if (edits.length) throw failures.skill_edited({ name: record.name, path: target, files: edits })
}

const sameMap = (a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
