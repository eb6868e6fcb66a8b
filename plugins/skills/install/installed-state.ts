import { describeReference } from '../../skill-sources/index.ts'
import type { LockEntry } from '../lock/lock-entry.ts'
import { type LockFile, readLockFile } from '../lock/lock-file.ts'
import type { Place } from './place.ts'
import type { SkillRecord } from './record.ts'
import type { RecordStore, Records } from './record-store.ts'

/** What is installed in one place, and what it is pinned to. */
export interface InstalledState {
  readonly place: Place
  readonly records: Records
  /** Of a project. */
  readonly lock: LockFile | undefined
  /**
   * What every skill is pinned to: the lock file's entries, which may have come with a `git pull` and
   * be newer than what is installed; for the user what is installed.
   */
  readonly pins: ReadonlyMap<string, LockEntry>
}

export async function readInstalledState(store: RecordStore, place: Place): Promise<InstalledState> {
  const records = await store.read(place)
  if (place.scope === 'user') {
    const pins = new Map([...records.values()].map(record => [record.name, toPin(record)]))
    return { place, records, lock: undefined, pins }
  }
  const lock = await readLockFile(place.root)
  return { place, records, lock, pins: lock.entries }
}

export function toPin(record: SkillRecord): LockEntry {
  const { name, version, source, resolved_reference, digest, content_digest, provenance } = record
  return {
    name,
    ...(version ? { version } : {}),
    source,
    ...(resolved_reference ? { resolvedReference: resolved_reference } : {}),
    digest,
    contentDigest: content_digest,
    ...(provenance ? { provenance } : {}),
    ...(record.unsigned ? { unsigned: true } : {}),
    ...(record.required_by.length ? { requiredBy: record.required_by.toSorted() } : {}),
    ...(record.explicit ? { explicit: true } : {}),
  }
}

/** What a needed skill's reference is pinned to here, if it is: it is not fetched anew then. */
export function findPinned({ pins }: InstalledState, reference: string): string | undefined {
  const { repository, hasVersion } = describeReference(reference)
  for (const pin of pins.values()) {
    const isSame =
      pin.source === reference || (!hasVersion && describeReference(pin.source).repository === repository)
    if (isSame) return pin.resolvedReference
  }
  return undefined
}
