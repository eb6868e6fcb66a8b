import { join } from 'node:path'
import { failures } from '../failures.ts'
import { entryProblem, graphProblem, type LockEntry } from '../lock/lock-entry.ts'
import type { FileStep, GroupStep } from './change-journal.ts'
import type { ClientFolders } from './client-folders.ts'
import { compareFiles, editedFiles, type FileHashes, fileHashes } from './file-hashes.ts'
import type { InstalledState } from './installed-state.ts'
import { adoptsSame, isReplacing, keepsEdits, type OnConflict } from './on-conflict.ts'
import { assertPlainPath } from './path-guard.ts'
import type { SkillRecord } from './record.ts'
import type { RecordStore } from './record-store.ts'
import type { Change } from './transaction.ts'

/** The plan of one change: what it will install, pin, write and remove. Planning writes nothing. */
export interface Plan {
  readonly records: ReadonlyMap<string, SkillRecord>
  readonly pins: ReadonlyMap<string, LockEntry>
  /** Plans to install a fetched skill in the folders that do not hold it yet. */
  install(record: SkillRecord, folder: string, onConflict: OnConflict): Promise<void>
  /** Plans to remove a skill and those that only it needed. */
  remove(name: string, onConflict: OnConflict): Promise<void>
  /** Plans to remove the skills that `parent` no longer needs and no other skill needs. */
  removeUnneeded(parent: string, requires: readonly string[], onConflict: OnConflict): Promise<void>
  /** Plans the pin of a skill, which a project's lock file holds. */
  pin(entry: LockEntry): void
  addGroupStep(step: GroupStep): void
  toChange(): Change
  isEmpty(): boolean
}

export function createPlan(
  state: InstalledState,
  { store, folders }: { store: RecordStore; folders: ClientFolders },
): Plan {
  const { place, lock } = state
  const records = new Map(state.records)
  const pins = new Map(state.pins)
  const changes: Change['folders'][number][] = []
  const groups: GroupStep[] = []

  async function install(record: SkillRecord, folder: string, onConflict: OnConflict): Promise<void> {
    const before = records.get(record.name)
    const own = new Set(folders.of(place, before?.clients ?? []).map(({ path }) => path))
    for (const client of folders.of(place, record.clients)) {
      const target = join(client.path, record.name)
      await assertPlainPath(client.base, target)
      const found = await fileHashes(target)
      const mine = own.has(client.path) ? before : undefined
      if (found && !shouldWrite(record, mine, found, target, onConflict)) continue
      changes.push({
        target,
        keep: client.keep,
        next: { folder, contentDigest: record.content_digest },
      })
    }
    records.set(record.name, record)
  }

  async function remove(name: string, onConflict: OnConflict): Promise<void> {
    const record = records.get(name)
    for (const client of record ? folders.of(place, record.clients) : []) {
      const target = join(client.path, name)
      await assertPlainPath(client.base, target)
      const found = await fileHashes(target)
      if (!found || !record) continue
      if (!isReplacing(onConflict)) assertUnedited(record, found, target)
      changes.push({ target, keep: client.keep })
    }
    records.delete(name)
    pins.delete(name)
    await removeUnneeded(name, [], onConflict)
  }

  async function removeUnneeded(
    parent: string,
    requires: readonly string[],
    onConflict: OnConflict,
  ): Promise<void> {
    for (const [name, pin] of [...pins]) {
      if (!pin.requiredBy?.includes(parent) || requires.includes(name)) continue
      const requiredBy = pin.requiredBy.filter(other => other !== parent)
      if (requiredBy.length === 0 && !pin.explicit) {
        await remove(name, onConflict)
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
    add(store.pathOf(place), store.toText(place, state.records), store.toText(place, records), 0o600)
    if (lock && !sameMap(pins, state.pins)) {
      assertLockable(lock.path, [...pins.values()])
      add(lock.path, lock.text, lock.withEntries(pins), 0o644)
    }
    return steps
  }

  return {
    records,
    pins,
    install,
    remove,
    removeUnneeded,
    pin(entry) {
      if (JSON.stringify(entry) !== JSON.stringify(pins.get(entry.name))) pins.set(entry.name, entry)
    },
    addGroupStep: step => void groups.push(step),
    toChange: () => ({ folders: changes, files: files(), groups }),
    isEmpty: () => changes.length === 0 && groups.length === 0 && files().length === 0,
  }
}

/** Whether an existing folder has to be replaced. Fails when that would lose files that keelson did not write. */
function shouldWrite(
  record: SkillRecord,
  before: SkillRecord | undefined,
  found: FileHashes,
  target: string,
  onConflict: OnConflict,
): boolean {
  if (!before) {
    if (adoptsSame(onConflict) && editedFiles(record.files, found).length === 0) return false
    if (onConflict !== 'adopt' && !isReplacing(onConflict))
      throw failures.skill_folder_foreign({ path: target })
    return true
  }
  const isSame = before.digest === record.digest
  const edits = editedFiles(before.files, found)
  if (edits.length === 0) return !isSame
  if (isSame && keepsEdits(onConflict)) return false
  if (!isReplacing(onConflict)) throw failures.skill_edited({ name: record.name, path: target, files: edits })
  return !isUnchanged(record.files, found)
}

/** Fails with `skill_lock_invalid` for entries that could not be read again, such as with a too long signer's name. */
function assertLockable(path: string, entries: readonly LockEntry[]): void {
  const problem = entries.map(entryProblem).find(Boolean) ?? graphProblem(entries)
  if (problem) throw failures.skill_lock_invalid({ path, problem })
}

const isUnchanged = (a: FileHashes, b: FileHashes): boolean =>
  Object.values(compareFiles(a, b)).every(list => list.length === 0)

function assertUnedited(record: SkillRecord, found: FileHashes, target: string): void {
  const edits = editedFiles(record.files, found)
  if (edits.length) throw failures.skill_edited({ name: record.name, path: target, files: edits })
}

const sameMap = (a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
