import type { FetchedSkill } from '../../skill-sources/index.ts'
import { compareFiles, type FileChanges, fileHashes } from '../install/file-hashes.ts'
import type { SkillRecord } from '../install/record.ts'
import { compareSigners } from '../install/trust.ts'
import type { LockEntry } from '../lock/lock-entry.ts'

/** What is different in a newer version of a skill. */
export interface SkillChanges {
  version?: { before: string; after: string }
  /** Absent when the older one is not installed here. */
  files?: FileChanges
  /** Tools that it may use from now on without being asked. */
  tools_added?: string[]
  /** Another signer than before. */
  signer?: { before: string; after: string }
}

export async function compareSkills(
  pin: LockEntry,
  record: SkillRecord | undefined,
  { folder, manifest, signer }: FetchedSkill,
): Promise<SkillChanges> {
  const isInstalled = record !== undefined && record.digest === pin.digest
  const files = isInstalled ? compareFiles(record.files, (await fileHashes(folder)) ?? {}) : undefined
  const before = isInstalled ? record.allowed_tools : []
  const tools = manifest.allowedTools.filter(tool => !before.includes(tool))
  const [old, version] = [pin.version ?? '', manifest.version ?? '']
  const other = pin.provenance && signer ? compareSigners(pin.provenance, signer, 'newer-version') : undefined
  return {
    ...(old === version ? {} : { version: { before: old, after: version } }),
    ...(files ? { files } : {}),
    ...(tools.length ? { tools_added: tools } : {}),
    ...(other ? { signer: { before: other.before, after: other.after } } : {}),
  }
}
