import type { PermissionProfile } from '../../../src/contracts/run-config.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { type Found, toWorkloadName } from '../found.ts'
import { fillIn } from './docker-templates.ts'

/** Members of a catalogue's entry that change how the server runs and have no counterpart here. */
const WITHOUT_COUNTERPART = ['user', 'extraHosts']

/** Turns an entry of a catalogue of docker mcp into a run config. */
export function fromCatalog(
  name: string,
  entry: Record<string, unknown>,
  { config, tools }: { config: unknown; tools: unknown },
): Found {
  if (entry.type === 'poci') return { name, problem: 'each of its tools is an image of its own.', left: [] }
  const left = WITHOUT_COUNTERPART.filter(member => entry[member]).map(
    member => `${member}: keelson has no such setting`,
  )
  const common = {
    name: toWorkloadName(name),
    ...(isTexts(tools) && tools.length ? { tools_filter: [...tools] } : {}),
  }
  const remote = isObject(entry.remote) ? entry.remote : {}
  const url = remote.url || entry.sseEndpoint
  if (isObject(entry.oauth)) left.push('the login at the service: log in again')
  if (typeof url === 'string') {
    if (isObject(remote.headers))
      left.push('its headers: keelson edit NAME --remote-forward-headers-secret adds one')
    const transport = entry.sseEndpoint || remote.transport_type === 'sse' ? 'sse' : 'streamable-http'
    return { name, draft: { ...common, remote_url: url, transport }, left }
  }
  if (typeof entry.image !== 'string')
    return { name, problem: 'its entry names neither an image nor a URL.', left: [] }
  const [args, volumes] = [fillAll(entry.command, config), fillAll(entry.volumes, config)]
  const missing = args.missing ?? volumes.missing
  if (missing)
    return { name, problem: `config.yaml has no value for ${missing}, which its entry needs.`, left: [] }
  const named = volumes.values.find(volume => !volume.startsWith('/'))
  if (named)
    return { name, problem: `it keeps data in the volume ${named}. keelson mounts folders only.`, left: [] }
  const env_vars: Record<string, string> = {}
  for (const { name: variable, value } of objects(entry.env)) {
    const filled = fillIn(String(value), config)
    if (filled?.length === 1) env_vars[String(variable)] = filled[0] ?? ''
    else left.push(`variable ${variable}: config.yaml has no value for ${value}`)
  }
  const secrets = objects(entry.secrets).map(secret => `${secret.name},target=${secret.env}`)
  const profile = profileOf(entry)
  const draft = {
    ...common,
    image: entry.image,
    transport: 'stdio',
    env_vars,
    ...(args.values.length ? { cmd_args: args.values } : {}),
    ...(volumes.values.length ? { volumes: volumes.values } : {}),
    ...(secrets.length ? { secrets } : {}),
    ...(profile ? { permission_profile: profile } : {}),
  } as const
  return { name, draft, left }
}

/** `allowHosts` are hosts with ports. A profile has one list of each, so every host gets every port. */
function profileOf({ disableNetwork, allowHosts }: Record<string, unknown>): PermissionProfile | undefined {
  if (disableNetwork === true) return { network: { outbound: { insecure_allow_all: false } } }
  if (!isTexts(allowHosts) || allowHosts.length === 0) return undefined
  const parts = allowHosts.map(host => /^(.*?)(?::(\d+)(?:\/tcp)?)?$/.exec(host))
  const hosts = [...new Set(parts.map(part => part?.[1] ?? ''))]
  const ports = [...new Set(parts.map(part => Number(part?.[2] ?? 443)))]
  return { network: { outbound: { insecure_allow_all: false, allow_host: hosts, allow_port: ports } } }
}

function fillAll(texts: unknown, config: unknown): { values: string[]; missing?: string } {
  const values: string[] = []
  for (const text of isTexts(texts) ? texts : []) {
    const filled = fillIn(text, config)
    if (!filled) return { values, missing: text }
    values.push(...filled)
  }
  return { values }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every(item => typeof item === 'string')

const objects = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : []
