import { describeReference } from '../../skill-sources/index.ts'
import type { LockEntry } from '../lock/lock-entry.ts'
import { type LockFile, readLockFile } from '../lock/lock-file.ts'
import type { Place } from './place.ts'
import type { SkillRecord } from './record.ts'
import type { RecordStore, Records } from './record-store.ts'

/** The skills that are installed in one place, with their pins. */
export interface InstalledState {
  readonly place: Place
  readonly records: Records
  /** Only in a project. */
  readonly lock: LockFile | undefined
  /**
   * The pin of every skill. In a project these are the entries of the lock file, which a `git pull` may have
   * made newer than the installed skills. For the user they are the installed skills.
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

/** Returns the reference that a needed skill is pinned to in this place, so that no newer version is fetched. */
export function findPinned({ pins }: InstalledState, reference: string): string | undefined {
  const { repository, hasVersion } = describeReference(reference)
  for (const pin of pins.values()) {
    const isSame =
      pin.source === reference || (!hasVersion && describeReference(pin.source).repository === repository)
    if (isSame) return pin.resolvedReference
  }
  return undefined
}
