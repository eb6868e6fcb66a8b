import * as t from 'typanion'
import * as check from './schema-checks.ts'

/** Servers of ToolHive's older format: `facts` are those that both formats have. */
export function legacyServerSchemas(facts: Readonly<Record<string, check.Check>>, { oneOf }: check.Limits) {
  const legacyFacts = {
    ...facts,
    name: check.string,
    title: check.string,
    description: check.string,
    repository_url: check.string,
    transport: check.optional(oneOf(['stdio', 'sse', 'streamable-http'])),
  }
  const imageServer = check.object({
    ...legacyFacts,
    image: t.isString(),
    target_port: check.optional(check.port),
  })
  const remoteServer = check.object({
    ...legacyFacts,
    url: t.isString(),
    headers: check.optional(
      check.list(
        check.object({
          name: t.isString(),
          description: check.string,
          default: check.string,
          choices: check.optional(check.strings),
          required: check.boolean,
          secret: check.boolean,
        }),
      ),
    ),
  })
  return { imageServer, remoteServer }
}

/** A file in the older format; its servers are checked one by one. */
export const legacyFile = check.object({
  version: check.string,
  last_updated: check.string,
  servers: check.optional(t.isRecord(t.isUnknown())),
  remote_servers: check.optional(t.isRecord(t.isUnknown())),
  groups: check.optional(
    t.isArray(
      check.object({
        name: t.isString(),
        description: check.string,
        servers: check.optional(t.isRecord(t.isUnknown())),
        remote_servers: check.optional(t.isRecord(t.isUnknown())),
      }),
    ),
  ),
})
