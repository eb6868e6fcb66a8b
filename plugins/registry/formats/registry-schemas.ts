import * as t from 'typanion'
import { legacyFile, legacyServerSchemas } from './legacy-schemas.ts'
import {
  type Check,
  type Limits,
  limitsAt,
  object,
  optional,
  type Strictness,
  string,
} from './schema-checks.ts'
import { serverFacts } from './server-facts-schema.ts'
import { serverJsonSchema } from './server-json-schema.ts'
import { skillSchema } from './skill-schema.ts'

/** Validators of registry documents at one strictness. */
export function registrySchemas(strictness: Strictness) {
  const limits = limitsAt(strictness)
  const facts = serverFacts(limits)
  const status = limits.oneOf(['active', 'deprecated', 'Active', 'Deprecated'])
  return {
    server: serverJsonSchema(limits),
    extension: object({ ...facts, ...(limits.full ? { status } : {}) }),
    skill: skillSchema(limits),
    ...legacyServerSchemas(facts, limits),
    upstreamFile: upstreamFile(limits),
    legacyFile,
  }
}

export type RegistrySchemas = ReturnType<typeof registrySchemas>

/** A file in the newer format; its servers and skills are checked one by one. */
const upstreamFile = ({ full }: Limits): Check =>
  object({
    $schema: string,
    version: full ? t.cascade(t.isString(), [t.matchesRegExp(/^\d+\.\d+\.\d+$/)]) : string,
    meta: optional(object({ last_updated: string })),
    data: object({
      servers: optional(t.isArray(t.isUnknown())),
      skills: optional(t.isArray(t.isUnknown())),
      plugins: optional(t.isArray(t.isUnknown())),
      groups: optional(
        t.isArray(object({ name: t.isString(), servers: optional(t.isArray(t.isUnknown())) })),
      ),
    }),
  })
