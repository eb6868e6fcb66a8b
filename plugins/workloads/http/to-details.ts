import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Workload } from '../../../src/contracts/workload.ts'
import { toSecretReference } from '../../../src/http/secret-reference.ts'
import type { SectionRequest } from '../../../src/http/section-request.ts'
import type { TypeOf } from '../../../src/lib/schema.ts'
import { effectiveMode } from '../../proxy/index.ts'
import type { runConfig, WorkloadDetails, workloadItem } from './schemas.ts'
import { shownProfile } from './shown-profile.ts'

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
  permission_profile: config.permission_profile ?? null,
})

/** The run config in the shape of the request that makes such a workload. */
export function toDetails(
  config: RunConfig,
  requests: readonly SectionRequest[],
  { isolation }: { isolation?: string | undefined } = {},
): WorkloadDetails {
  return {
    name: config.name,
    image: config.image ?? '',
    ...(config.remote_url ? { url: config.remote_url } : {}),
    host: config.host ?? LOOPBACK,
    cmd_arguments: config.cmd_args ?? [],
    target_port: config.target_port ?? 0,
    proxy_port: config.port,
    env_vars: config.env_vars ?? {},
    secrets: (config.secrets ?? []).map(toSecretReference),
    volumes: config.volumes ?? [],
    transport: config.transport,
    authz_config: '',
    oidc: { issuer: '', audience: '', jwks_url: '', introspection_url: '', client_id: '', client_secret: '' },
    permission_profile: shownProfile(config),
    proxy_mode: effectiveMode(config),
    tools: [],
    tools_override: {},
    oauth_config: {},
    ...(config.no_sandbox ? { no_sandbox: true } : {}),
    ...(config.group ? { group: config.group } : {}),
    ...(isolation ? { isolation } : {}),
    ...Object.assign({}, ...requests.map(request => request.toDetails?.(config))),
  }
}
