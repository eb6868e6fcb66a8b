import { PROXY_MODES, TRANSPORTS } from '../../../src/contracts/run-config.ts'
import type { RunOptions } from '../../../src/contracts/run-options.ts'
import { assertVariables } from '../../../src/contracts/variables.ts'
import { failures as core } from '../../../src/errors.ts'
import { parseDuration } from '../../../src/lib/duration.ts'
import type { TypeOf } from '../../../src/lib/schema.ts'
import { MODES } from '../../image-verification/index.ts'
import type { createBody } from './schemas.ts'

type Body = TypeOf<typeof createBody>

/**
 * The options of `run` that the members of a body set. A member of ToolHive's requests comes before
 * that of the run config which says the same. Empty texts, lists and zeroes count as not given, as clients
 * made by generators send them.
 */
export function toOptions(body: Body): RunOptions {
  const build = body.runtime_config ?? {}
  assertVariables(body.env_vars ?? {}) // an "=" in a name would become a part of the value
  const options: RunOptions = {
    name: body.name,
    group: body.group,
    runtime: body.runtime,
    transport: oneOf(body.transport, TRANSPORTS, 'transport'),
    'proxy-mode': oneOf(body.proxy_mode, PROXY_MODES, 'proxy_mode'),
    host: body.host,
    'proxy-port': body.proxy_port,
    'target-host': body.target_host,
    'target-port': body.target_port,
    'allowed-origins': body.allowed_origins,
    'endpoint-prefix': body.endpoint_prefix,
    'session-ttl': duration(body.session_ttl),
    stateless: body.stateless || undefined,
    'trust-proxy-headers': body.trust_proxy_headers || undefined,
    env: Object.entries(body.env_vars ?? {}).map(([name, value]) => `${name}=${value}`),
    'env-file-dir': body.env_file_dir,
    secret: (body.secrets ?? []).map(secret =>
      typeof secret === 'string' ? secret : `${secret.name},target=${secret.target}`,
    ),
    'remote-auth-bearer-token': reference(body.oauth_config?.bearer_token),
    'remote-forward-headers': pairs(body.header_forward?.add_plaintext_headers),
    'remote-forward-headers-secret': pairs(body.header_forward?.add_headers_from_secret),
    volume: body.volumes,
    publish: body.publish,
    label: Object.entries(body.container_labels ?? {}).map(([key, value]) => `${key}=${value}`),
    memory: body.resources?.memory,
    cpus: body.resources?.cpus,
    'permission-profile': body.permission_profile ? undefined : body.permission_profile_name_or_path,
    'isolate-network': body.network_isolation ?? body.isolate_network,
    'allow-docker-gateway': body.allow_docker_gateway || undefined,
    'no-sandbox': body.no_sandbox || undefined,
    'accept-permissions': body.accept_permissions,
    'image-verification': oneOf(body.image_verification, MODES, 'image_verification'),
    'ignore-globally': body.ignore_config?.loadGlobal === false ? false : undefined,
    'print-resolved-overlays': body.ignore_config?.printOverlays || undefined,
    'runtime-image': build.builder_image,
    'runtime-add-package': build.additional_packages,
    'build-with': build.build_with,
  }
  return Object.fromEntries(Object.entries(options).filter(([, value]) => isSaid(value)))
}

const pairs = (map: Readonly<Record<string, string>> = {}): string[] =>
  Object.entries(map).map(([name, value]) => {
    if (name.includes('=')) throw core.usage({ text: `"${name}" cannot be the name of a header.` })
    return `${name}=${value}`
  })

const reference = (secret: { name: string; target: string } | undefined): string | undefined =>
  secret?.name ? `${secret.name},target=bearer_token` : undefined

const isSaid = (value: unknown): boolean =>
  value !== undefined && value !== '' && value !== 0 && !(Array.isArray(value) && value.length === 0)

function duration(text: string | undefined): number | undefined {
  const ms = parseDuration(text || '0')
  if (ms === undefined)
    throw core.usage({ text: `session_ttl takes a duration such as 30m or 2h, not "${text}".` })
  return ms
}

function oneOf<const C extends readonly string[]>(
  text: string | undefined,
  choices: C,
  member: string,
): C[number] | undefined {
  if (text === undefined || text === '' || choices.includes(text)) return text || undefined
  throw core.usage({ text: `${member} is one of ${choices.join(', ')}, not "${text}".` })
}
