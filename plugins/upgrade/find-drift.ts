import type { PermissionProfile, RunConfig } from '../../src/contracts/run-config.ts'
import type { ImageServer } from '../registry/index.ts'
import type { ConfigDrift, EnvVarDrift, VariableDefinition } from './check-result.ts'

type EnvVar = NonNullable<ImageServer['env_vars']>[number]

/**
 * The variables that the candidate adds and no longer wants; undefined when there are none.
 *
 * `registry_env_vars` lists the variables of the workload's entry, so that a variable that the user added does
 * not count as removed. Without that list, every variable counts that the candidate does not list.
 */
export function envVarDrift(
  config: RunConfig,
  candidate: Pick<ImageServer, 'env_vars'>,
  fromFolder: readonly string[],
): EnvVarDrift | undefined {
  const targets = (config.secrets ?? []).flatMap(text => /,target=(.+)$/s.exec(text)?.[1] ?? [])
  const given = new Set([...Object.keys(config.env_vars ?? {}), ...targets])
  const listed = candidate.env_vars ?? []
  const known = new Set(listed.map(({ name }) => name))
  const origin = Array.isArray(config.registry_env_vars) ? new Set(config.registry_env_vars) : undefined
  const added = listed.filter(({ name }) => !given.has(name) && !fromFolder.includes(name)).map(toDefinition)
  const removed = [...given]
    .filter(name => !known.has(name) && (origin?.has(name) ?? true))
    .map(name => ({ name, required: false, ...(targets.includes(name) ? { secret: true } : {}) }))
  return added.length || removed.length ? { added, removed } : undefined
}

const toDefinition = ({
  name,
  description,
  required = false,
  secret,
  default: fallback,
}: EnvVar): VariableDefinition => ({
  name,
  ...(description ? { description } : {}),
  required,
  ...(secret ? { secret } : {}),
  ...(fallback !== undefined && !secret ? { default: fallback } : {}),
})

/** The transport and permissions of the candidate that differ from those of the workload. */
export function configDrift(
  config: RunConfig,
  { transport, permissions }: Pick<ImageServer, 'transport' | 'permissions'>,
): ConfigDrift | undefined {
  const profile = profileDrift(config, permissions)
  const drift: ConfigDrift = {
    ...(transport && transport !== config.transport
      ? { transport: { from: config.transport, to: transport } }
      : {}),
    ...(profile ? { permission_profile: profile } : {}),
  }
  return Object.keys(drift).length ? drift : undefined
}

/** Compares profiles by name where both have one, else by content; profiles of entries seldom have a name. */
function profileDrift(config: RunConfig, wanted: PermissionProfile | undefined) {
  if (!wanted) return undefined
  const name = config.permission_profile_name_or_path ?? config.permission_profile?.name
  if (name && wanted.name) return name === wanted.name ? undefined : { from: name, to: wanted.name }
  if (!config.permission_profile) return undefined
  const [from, to] = [describe(config.permission_profile), describe(wanted)]
  return from === to ? undefined : { from: name ?? from, to: wanted.name ?? to }
}

/** A profile in words. Its network mode is left out: `--network` of the user may have set it. */
function describe({ read, write, network, privileged }: PermissionProfile): string {
  const { insecure_allow_all, allow_host, allow_port } = network?.outbound ?? {}
  const hosts = list(allow_host)
  const ports = list(allow_port)
  const outbound =
    insecure_allow_all || !network?.outbound
      ? 'everything'
      : [hosts || (ports && 'any host'), ports && `port ${ports}`].filter(Boolean).join(' ')
  return [
    list(read) && `read ${list(read)}`,
    list(write) && `write ${list(write)}`,
    `reach ${outbound || 'nothing'}`,
    list(network?.inbound?.allow_host) && `reached as ${list(network?.inbound?.allow_host)}`,
    privileged && 'privileged',
  ]
    .filter(Boolean)
    .join(', ')
}

const list = (items: readonly (string | number)[] = []): string => [...items].map(String).sort().join(' ')
