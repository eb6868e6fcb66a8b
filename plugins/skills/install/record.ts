import * as t from 'typanion'
import type { SkillManifest } from '../../skill-artifacts/index.ts'
import type { SkillSigner } from '../../skill-sources/index.ts'
import { signerSchema } from '../lock/signer-schema.ts'
import type { FileHashes } from './file-hashes.ts'
import type { Place } from './place.ts'

/** The record of one installed skill. Members that ToolHive's API has too are named as there. */
export interface SkillRecord {
  name: string
  version: string
  description: string
  author: string
  /** The reference as the user typed it. */
  source: string
  reference: string
  resolved_reference?: string
  digest: string
  content_digest: string
  status: 'installed'
  installed_at: string
  clients: string[]
  dependencies: Dependency[]
  allowed_tools: string[]
  /** The hashes of the installed files, so that edits are found. */
  files: FileHashes
  provenance?: SkillSigner
  /** The user agreed to install it unsigned. */
  unsigned?: boolean
  /** Names of skills that need it. */
  required_by: string[]
  /** It was requested by name, and not only needed by others. */
  explicit: boolean
}

export interface Dependency {
  name: string
  reference: string
  digest: string
}

/** An installed skill as the API and `skill list --format json` show it. */
export interface InstalledSkill {
  metadata: { name: string; version: string; description: string; author: string; tags?: string[] }
  scope: Place['scope']
  project_root?: string
  reference?: string
  digest?: string
  status: 'installed'
  installed_at: string
  clients?: string[]
  dependencies?: Dependency[]
  /** Whether the project's lock file holds it. */
  managed: boolean
}

export function toInstalledSkill(
  record: SkillRecord,
  place: Place,
  { managed }: { managed: boolean },
): InstalledSkill {
  const { name, version, description, author, reference, digest, status, installed_at } = record
  return {
    metadata: { name, version, description, author },
    scope: place.scope,
    ...(place.scope === 'project' ? { project_root: place.root } : {}),
    reference,
    digest,
    status,
    installed_at,
    ...(record.clients.length ? { clients: record.clients } : {}),
    ...(record.dependencies.length ? { dependencies: record.dependencies } : {}),
    managed,
  }
}

/** Returns the author that SKILL.md names. */
export const authorOf = ({ metadata }: SkillManifest): string => metadata.author ?? ''

const strings = t.isArray(t.isString())
const optional = t.isOptional(t.isString())

const recordSchema = t.isObject(
  {
    name: t.isString(),
    version: t.isString(),
    description: t.isString(),
    author: t.isString(),
    source: t.isString(),
    reference: t.isString(),
    resolved_reference: optional,
    digest: t.isString(),
    content_digest: t.isString(),
    status: t.isEnum(['installed'] as const),
    installed_at: t.isString(),
    clients: strings,
    dependencies: t.isArray(
      t.isObject({ name: t.isString(), reference: t.isString(), digest: t.isString() }),
    ),
    allowed_tools: strings,
    files: t.isRecord(t.isString()),
    provenance: t.isOptional(signerSchema),
    unsigned: t.isOptional(t.isBoolean()),
    required_by: strings,
    explicit: t.isBoolean(),
  },
  { extra: t.isUnknown() },
)

/** The file of one place: its skills by name. */
export const recordsSchema = t.isObject(
  { project_root: optional, skills: t.isRecord(recordSchema) },
  { extra: t.isUnknown() },
)
