import { anything, list, object, optional, text } from '../../../src/lib/schema.ts'
import { imageServer, legacyFile, remoteServer } from './legacy.ts'
import { checkAt, expected, type Strictness } from './limits.ts'
import { extension } from './server-facts.ts'
import { serverJson } from './server-json.ts'
import { skillEntry } from './skill-entry.ts'

const entries = optional(list(anything))

/** A file in the newer format; its servers and skills are checked one by one. */
const upstreamFile = object({
  $schema: optional(text),
  version: expected({ ...text, pattern: '^\\d+\\.\\d+\\.\\d+$' }),
  meta: optional(object({ last_updated: optional(text) })),
  data: object({
    servers: entries,
    skills: entries,
    plugins: entries,
    groups: optional(list(object({ name: text, servers: entries }))),
  }),
})

const makeChecks = (strictness: Strictness) => ({
  server: checkAt(strictness, serverJson),
  extension: checkAt(strictness, extension),
  skill: checkAt(strictness, skillEntry),
  imageServer: checkAt(strictness, imageServer),
  remoteServer: checkAt(strictness, remoteServer),
  upstreamFile: checkAt(strictness, upstreamFile),
  legacyFile: checkAt(strictness, legacyFile),
})
const made = new Map<Strictness, RegistrySchemas>()

/** Validators of registry documents at one strictness. */
export function registrySchemas(strictness: Strictness): RegistrySchemas {
  const checks = made.get(strictness) ?? makeChecks(strictness)
  made.set(strictness, checks)
  return checks
}

export type RegistrySchemas = ReturnType<typeof makeChecks>
