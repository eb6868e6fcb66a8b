import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Workload } from '../../../src/contracts/workload.ts'
import type { TypeOf } from '../../../src/lib/schema.ts'
import { isBridgeMode } from '../../egress/index.ts'
import { effectiveMode } from '../../proxy/index.ts'
import type { runConfig, workloadDetails, workloadItem } from './schemas.ts'

/** How the API writes a time that is not known; clients parse it as a date. */
const NO_TIME = '0001-01-01T00:00:00Z'
const LOOPBACK = '127.0.0.1'

/** A workload as the API lists it. */
export const toItem = ({ last_upgrade, ...workload }: Workload): TypeOf<typeof workloadItem> => ({
  ...workload,
  created_at: workload.created_at || NO_TIME,
  started_at: workload.started_at ?? NO_TIME,
})

/** The run config as the API exports it. */
export const toExport = (config: RunConfig): TypeOf<typeof runConfig> => ({
  ...config,
  image: config.image ?? '',
  host: config.host ?? LOOPBACK,
  permission_profile: (config.permission_profile ?? null) as TypeOf<typeof runConfig>['permission_profile'],
})

/** The run config in the shape of the request that makes such a workload. */
export function toDetails(config: RunConfig): TypeOf<typeof workloadDetails> {
  const { runtime_config: build, allow_docker_gateway: gateway } = config
  return {
    name: config.name,
    image: config.image ?? '',
    ...(config.remote_url ? { url: config.remote_url } : {}),
    host: config.host ?? LOOPBACK,
    cmd_arguments: config.cmd_args ?? [],
    target_port: config.target_port ?? 0,
    proxy_port: config.port,
    env_vars: config.env_vars ?? {},
    secrets: (config.secrets ?? []).map(toReference),
    volumes: config.volumes ?? [],
    transport: config.transport,
    authz_config: '',
    oidc: { issuer: '', audience: '', jwks_url: '', introspection_url: '', client_id: '', client_secret: '' },
    permission_profile: (config.permission_profile ?? null) as TypeOf<
      typeof workloadDetails
    >['permission_profile'],
    proxy_mode: effectiveMode(config),
    network_isolation: config.isolate_network ?? isBridgeMode(config.permission_profile?.network?.mode),
    trust_proxy_headers: config.trust_proxy_headers ?? false,
    tools: [],
    tools_override: {},
    oauth_config: toOAuthConfig(config.remote_auth_config),
    ...(config.header_forward ? { header_forward: config.header_forward } : {}),
    ...(build && Object.keys(build).length ? { runtime_config: build } : {}),
    ...(gateway ? { allow_docker_gateway: true } : {}),
    ...(config.no_sandbox ? { no_sandbox: true } : {}),
    ...(config.group ? { group: config.group } : {}),
  }
}

function toReference(text: string): { name: string; target: string } {
  const at = text.lastIndexOf(',target=')
  return { name: text.slice(0, at), target: text.slice(at + ',target='.length) }
}

function toOAuthConfig({ bearer_token: token }: RunConfig['remote_auth_config'] & object = {}) {
  return token ? { bearer_token: toReference(token) } : {}
}
