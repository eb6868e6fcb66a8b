import * as t from 'typanion'
import {
  boolean,
  type Check,
  type Limits,
  list,
  object,
  optional,
  port,
  string,
  strings,
} from './schema-checks.ts'

/** Servers of ToolHive's older format: `facts` are those that both formats have. */
export function legacyServerSchemas(facts: Readonly<Record<string, Check>>, { oneOf }: Limits) {
  const legacyFacts = {
    ...facts,
    name: string,
    title: string,
    description: string,
    repository_url: string,
    transport: optional(oneOf(['stdio', 'sse', 'streamable-http'])),
  }
  const imageServer = object({ ...legacyFacts, image: t.isString(), target_port: optional(port) })
  const remoteServer = object({
    ...legacyFacts,
    url: t.isString(),
    headers: optional(
      list(
        object({
          name: t.isString(),
          description: string,
          default: string,
          choices: optional(strings),
          required: boolean,
          secret: boolean,
        }),
      ),
    ),
  })
  return { imageServer, remoteServer }
}

/** A file in the older format; its servers are checked one by one. */
export const legacyFile = object({
  version: string,
  last_updated: string,
  servers: optional(t.isRecord(t.isUnknown())),
  remote_servers: optional(t.isRecord(t.isUnknown())),
  groups: optional(
    t.isArray(
      object({
        name: t.isString(),
        description: string,
        servers: optional(t.isRecord(t.isUnknown())),
        remote_servers: optional(t.isRecord(t.isUnknown())),
      }),
    ),
  ),
})
