import * as t from 'typanion'
import { failures } from '../errors.ts'
import { parseDocument } from '../parse-document.ts'

export const SCHEMA_VERSION = 'v0.1.0'

export const TRANSPORTS = ['stdio', 'sse', 'streamable-http'] as const
export type Transport = (typeof TRANSPORTS)[number]

export const PROXY_MODES = ['streamable-http', 'sse'] as const
export type ProxyMode = (typeof PROXY_MODES)[number]

/** What an instance may read, write and reach. */
export interface PermissionProfile {
  name?: string
  read?: string[]
  write?: string[]
  network?: {
    mode?: string
    inbound?: { allow_host?: string[] }
    outbound?: { insecure_allow_all?: boolean; allow_host?: string[]; allow_port?: number[] }
  }
  privileged?: boolean
}

/**
 * The one document that describes a workload; also the export format.
 *
 * Wire names are kept in code. Members that a plugin owns are added by that plugin through
 * declaration merging; unknown members are kept when it is written.
 */
export interface RunConfig {
  schema_version: string
  name: string
  base_name?: string
  container_name?: string
  group?: string
  /** The runtime of the instance; absent for remote workloads. */
  runtime?: string
  /** The user insisted on a package that runs as a process of this host, without a sandbox. */
  no_sandbox?: boolean
  /** Image reference, or what the runtime's package store returned. */
  image?: string
  /** The target as the user typed it, e.g. `npx://@scope/name`. */
  source?: string
  remote_url?: string
  cmd_args?: string[]
  transport: Transport
  proxy_mode?: ProxyMode
  /** Address the proxy listens on. */
  host?: string
  /** Port the proxy listens on. */
  port: number
  target_host?: string
  target_port?: number
  publish?: string[]
  volumes?: string[]
  env_vars?: Record<string, string>
  env_file_dir?: string
  secrets?: string[]
  container_labels?: Record<string, string>
  permission_profile?: PermissionProfile
  permission_profile_name_or_path?: string
  isolate_network?: boolean
  allow_docker_gateway?: boolean
  ignore_config?: { loadGlobal?: boolean; printOverlays?: boolean }
  runtime_config?: { builder_image?: string; additional_packages?: string[]; build_with?: string[] }
  /** Resource limits: bytes (or `512m`) and cores, as the flags take them. */
  resources?: { memory?: string; cpus?: string }
  debug?: boolean
}

/** What the runtime calls the workload's instance. */
export const instanceName = (config: RunConfig): string => config.container_name || config.name

/** A name that every engine takes (at least two characters, a letter or digit first), and is the workload's if it can be. */
export const toInstanceName = (workload: string): string =>
  /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/.test(workload) ? workload : `keelson-${workload}`

const strings = t.isArray(t.isString())
const stringMap = t.isRecord(t.isString())
const port = t.cascade(t.isNumber(), [t.isInteger(), t.isInInclusiveRange(0, 65535)])
const optional = t.isOptional

export const permissionProfileSchema = t.isObject(
  {
    name: optional(t.isString()),
    read: optional(strings),
    write: optional(strings),
    network: optional(
      t.isObject(
        {
          mode: optional(t.isString()),
          inbound: optional(t.isObject({ allow_host: optional(strings) }, { extra: t.isUnknown() })),
          outbound: optional(
            t.isObject(
              {
                insecure_allow_all: optional(t.isBoolean()),
                allow_host: optional(strings),
                allow_port: optional(t.isArray(port)),
              },
              { extra: t.isUnknown() },
            ),
          ),
        },
        { extra: t.isUnknown() },
      ),
    ),
    privileged: optional(t.isBoolean()),
  },
  { extra: t.isUnknown() },
)

const schema = t.isObject(
  {
    schema_version: optional(t.isString()),
    name: t.isString(),
    base_name: optional(t.isString()),
    container_name: optional(t.isString()),
    group: optional(t.isString()),
    runtime: optional(t.isString()),
    no_sandbox: optional(t.isBoolean()),
    image: optional(t.isString()),
    source: optional(t.isString()),
    remote_url: optional(t.isString()),
    cmd_args: optional(strings),
    transport: t.isEnum(TRANSPORTS),
    proxy_mode: optional(t.isEnum([...PROXY_MODES, ''])),
    host: optional(t.isString()),
    port: optional(port),
    target_host: optional(t.isString()),
    target_port: optional(port),
    publish: optional(strings),
    volumes: optional(strings),
    env_vars: optional(stringMap),
    env_file_dir: optional(t.isString()),
    secrets: optional(strings),
    container_labels: optional(stringMap),
    permission_profile: optional(permissionProfileSchema),
    permission_profile_name_or_path: optional(t.isString()),
    isolate_network: optional(t.isBoolean()),
    allow_docker_gateway: optional(t.isBoolean()),
    ignore_config: optional(t.isObject({}, { extra: t.isUnknown() })),
    runtime_config: optional(
      t.isObject(
        {
          builder_image: optional(t.isString()),
          additional_packages: optional(strings),
          build_with: optional(strings),
        },
        { extra: t.isUnknown() },
      ),
    ),
    resources: optional(
      t.isObject({ memory: optional(t.isString()), cpus: optional(t.isString()) }, { extra: t.isUnknown() }),
    ),
    debug: optional(t.isBoolean()),
  },
  { extra: t.isUnknown() },
)

/** Turns text into a run config. `path` is named in the failure. */
export function parseRunConfig(text: string, path: string): RunConfig {
  const config = parseDocument(text, path, schema) as RunConfig & { proxy_mode?: string }
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
