import type { ImageServer, LegacyRegistry, RemoteServer } from './legacy.ts'
import { isRemote } from './legacy.ts'
import { toLegacy } from './lossless.ts'
import type { RegistryDocument } from './parse-registry.ts'
import type { ServerJson } from './server-json.ts'

/** Schema that a written registry file names. */
export const REGISTRY_SCHEMA =
  'https://raw.githubusercontent.com/stacklok/toolhive-core/main/registry/types/data/upstream-registry.schema.json'

const SEMVER = /^\d+\.\d+\.\d+$/

/** A registry in the server.json format. Empty lists are left out, `servers` excepted. */
export const toUpstream = (document: RegistryDocument): Record<string, unknown> => ({
  $schema: REGISTRY_SCHEMA,
  version: SEMVER.test(document.version) ? document.version : '1.0.0',
  meta: { last_updated: document.lastUpdated },
  data: {
    servers: document.servers,
    ...(document.skills.length ? { skills: document.skills } : {}),
    ...(document.plugins.length ? { plugins: document.plugins } : {}),
    ...(document.groups.length ? { groups: document.groups } : {}),
  },
})

/** A registry in the older format, which has no place for skills. */
export const toLegacyRegistry = (document: RegistryDocument): LegacyRegistry => ({
  version: document.version,
  last_updated: document.lastUpdated,
  ...split(document.servers),
  ...(document.groups.length
    ? { groups: document.groups.map(({ servers, ...group }) => ({ ...group, ...split(servers) })) }
    : {}),
})

function split(servers: readonly ServerJson[]) {
  const entries = servers.map(toLegacy)
  const images = entries.flatMap(({ name, entry }) => (isRemote(entry) ? [] : [[name, entry] as const]))
  const remotes = entries.flatMap(({ name, entry }) => (isRemote(entry) ? [[name, entry] as const] : []))
  return {
    servers: Object.fromEntries(images) as Record<string, ImageServer>,
    remote_servers: Object.fromEntries(remotes) as Record<string, RemoteServer>,
  }
}
