import { anything, list, map, object, optional, type TypeOf, text, texts } from '../../../src/lib/schema.ts'
import { choice, limited } from './limits.ts'

const skillPackage = object({
  registryType: choice('oci', 'git'),
  identifier: optional(text),
  digest: optional(text),
  mediaType: optional(text),
  url: optional(text),
  ref: optional(text),
  commit: optional(text),
  subfolder: optional(text),
})

export const skillEntry = object({
  namespace: limited(3, 128),
  name: limited(1, 64),
  description: limited(1, 1024),
  version: limited(1, 255),
  status: optional(choice('active', 'deprecated', 'archived', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  title: optional(limited(1, 100)),
  license: optional(limited(1, 256)),
  compatibility: optional(limited(1, 500)),
  allowedTools: optional(texts),
  repository: optional(object({ url: optional(text), type: optional(text) })),
  icons: optional(
    list(object({ src: optional(text), size: optional(text), type: optional(text), label: optional(text) })),
  ),
  packages: optional(list(skillPackage)),
  metadata: optional(map(anything)),
  _meta: optional(map(anything)),
})
/** A skill as ToolHive's registries list it. */
export type SkillEntry = TypeOf<typeof skillEntry>
