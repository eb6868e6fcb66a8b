import { failures } from '../errors.ts'
import {
  bool,
  list,
  type ObjectOf,
  object,
  oneOf,
  optional,
  port,
  type TypeOf,
  text,
  textMap,
  texts,
} from '../lib/schema.ts'
import { parseDocument } from '../parse-document.ts'

export const SCHEMA_VERSION = 'v0.1.0'

export const TRANSPORTS = ['stdio', 'sse', 'streamable-http'] as const
export type Transport = (typeof TRANSPORTS)[number]

export const PROXY_MODES = ['streamable-http', 'sse'] as const
export type ProxyMode = (typeof PROXY_MODES)[number]

/** The protocol that a server is said to speak; `auto`: that is found out. */
export const PROTOCOL_OPTIONS = ['auto', 'legacy', 'stateless'] as const

/**
 * What an instance may read, write and reach.
 *
 * Members beside these are kept. What their values may be is decided by the egress plugin.
 */
export const permissionProfileSchema = object({
  name: optional(text),
  read: optional(texts),
  write: optional(texts),
  privileged: optional(bool),
  network: optional(
    object({
      mode: optional(text),
      inbound: optional(object({ allow_host: optional(texts) })),
      outbound: optional(
        object({
          insecure_allow_all: optional(bool),
          allow_host: optional(texts),
          allow_port: optional(list(port)),
        }),
      ),
    }),
  ),
})

export type PermissionProfile = TypeOf<typeof permissionProfileSchema>

/** The members of a run config that the core owns. Those of a plugin are in its section. */
export const runConfigMembers = {
  schema_version: text,
  name: text,
  base_name: optional(text),
  container_name: optional(text),
  group: optional(text),
  /** The runtime of the instance; absent for remote workloads. */
  runtime: optional(text),
  /** The user insisted on a package that runs as a process of this host, without a sandbox. */
  no_sandbox: optional(bool),
  /** Image reference, or what the runtime's package store returned. */
  image: optional(text),
  /** The target as the user typed it, e.g. `npx://@scope/name`. */
  source: optional(text),
  remote_url: optional(text),
  cmd_args: optional(texts),
  transport: oneOf(TRANSPORTS),
  proxy_mode: optional(oneOf(PROXY_MODES)),
  /** Address the proxy listens on. */
  host: optional(text),
  /** Port the proxy listens on. */
  port,
  target_host: optional(text),
  target_port: optional(port),
  publish: optional(texts),
  volumes: optional(texts),
  env_vars: optional(textMap),
  env_file_dir: optional(text),
  secrets: optional(texts),
  container_labels: optional(textMap),
  permission_profile: optional(permissionProfileSchema),
  permission_profile_name_or_path: optional(text),
  /** Resource limits: bytes (or `512m`) and cores, as the flags take them. */
  resources: optional(object({ memory: optional(text), cpus: optional(text) })),
  debug: optional(bool),
}

/**
 * The one document that describes a workload; also the export format.
 *
 * Wire names are kept in code. Members that a plugin owns are added by that plugin through
 * declaration merging, from the schemas of its section; unknown members are kept when it is written.
 */
export interface RunConfig extends ObjectOf<typeof runConfigMembers> {}

/** What the runtime calls the workload's instance. */
export const instanceName = (config: RunConfig): string => config.container_name || config.name

/** A name that every engine takes (at least two characters, a letter or digit first), and is the workload's if it can be. */
export const toInstanceName = (workload: string): string =>
  /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/.test(workload) ? workload : `keelson-${workload}`

/** A document may leave out what is then filled in, and ToolHive writes an empty proxy mode. */
const storedSchema = object({
  ...runConfigMembers,
  schema_version: optional(text),
  port: optional(port),
  proxy_mode: optional(oneOf([...PROXY_MODES, ''])),
})

/** Turns text into a run config. `path` is named in the failure. */
export function parseRunConfig(text: string, path: string): RunConfig {
  const config = parseDocument(text, path, storedSchema)
  if (config.schema_version && config.schema_version !== SCHEMA_VERSION) {
    throw failures.invalid_file({
      path,
      problem: `schema_version is "${config.schema_version}"; this version reads "${SCHEMA_VERSION}".`,
    })
  }
  if (!config.image && !config.remote_url) {
    throw failures.invalid_file({ path, problem: 'it names neither an image nor a remote_url.' })
  }
  const { proxy_mode, ...rest } = config
  return {
    ...rest,
    ...(proxy_mode ? { proxy_mode } : {}),
    schema_version: SCHEMA_VERSION,
    port: config.port ?? 0,
  }
}
