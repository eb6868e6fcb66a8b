import {
  bool,
  closed,
  list,
  map,
  object,
  oneOf,
  optional,
  type TypeOf,
  text,
  textMap,
  texts,
} from '../../../src/lib/schema.ts'
import type { SkillManifest } from '../../skill-artifacts/index.ts'
import { skillSigner } from '../../skill-sources/index.ts'
import type { Place } from './place.ts'

const dependency = object({ name: text, reference: text, digest: text }, closed)
export type Dependency = TypeOf<typeof dependency>

const record = object({
  name: text,
  version: text,
  description: text,
  author: text,
  /** The reference as the user typed it. */
  source: text,
  reference: text,
  resolved_reference: optional(text),
  digest: text,
  content_digest: text,
  status: oneOf(['installed']),
  installed_at: text,
  clients: texts,
  dependencies: list(dependency),
  allowed_tools: texts,
  /** The hashes of the installed files, so that edits are found. */
  files: textMap,
  provenance: optional(skillSigner),
  /** The user agreed to install it unsigned. */
  unsigned: optional(bool),
  /** Names of skills that need it. */
  required_by: texts,
  /** It was requested by name, and not only needed by others. */
  explicit: bool,
})

/** The record of one installed skill. Members that ToolHive's API has too are named as there. */
export type SkillRecord = TypeOf<typeof record>

/** The file of one place: its skills by name. */
export const recordsSchema = object({ project_root: optional(text), skills: map(record) })

export const skillMetadata = object(
  { name: text, version: text, description: text, author: text, tags: optional(texts) },
  closed,
)

/** An installed skill as the API and `skill list --format json` show it. */
export const installedSkill = object(
  {
    metadata: skillMetadata,
    /** `user` or `project`. */
    scope: text,
    project_root: optional(text),
    reference: optional(text),
    tag: optional(text),
    digest: optional(text),
    status: text,
    installed_at: text,
    clients: optional(texts),
    dependencies: optional(list(dependency)),
    /** Whether the project's lock file holds it. */
    managed: bool,
  },
  closed,
)
export type InstalledSkill = TypeOf<typeof installedSkill>

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
