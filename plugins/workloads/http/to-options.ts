import type { RunOptions } from '../../../src/contracts/run-options.ts'
import { assertVariables } from '../../../src/contracts/variables.ts'
import type { SectionRequest } from '../../../src/http/section-request.ts'
import type { CreateBody } from './schemas.ts'

/**
 * The options of `run` that the members of a body set. A member of ToolHive's requests comes before
 * that of the run config which says the same. Empty texts, lists and zeroes count as not given, as clients
 * made by generators send them.
 */
export function toOptions(body: CreateBody, requests: readonly SectionRequest[]): RunOptions {
  assertVariables(body.env_vars ?? {}) // an "=" in a name would become a part of the value
  const options: RunOptions = {
    name: body.name,
    group: body.group,
    runtime: body.runtime,
    transport: body.transport || undefined,
    'proxy-mode': body.proxy_mode || undefined,
    host: body.host,
    'proxy-port': body.proxy_port,
    'target-host': body.target_host,
    'target-port': body.target_port,
    env: Object.entries(body.env_vars ?? {}).map(([name, value]) => `${name}=${value}`),
    'env-file-dir': body.env_file_dir,
    secret: (body.secrets ?? []).map(secret =>
      typeof secret === 'string' ? secret : `${secret.name},target=${secret.target}`,
    ),
    volume: body.volumes,
    publish: body.publish,
    label: Object.entries(body.container_labels ?? {}).map(([key, value]) => `${key}=${value}`),
    memory: body.resources?.memory,
    cpus: body.resources?.cpus,
    'permission-profile': body.permission_profile ? undefined : body.permission_profile_name_or_path,
    'no-sandbox': body.no_sandbox || undefined,
    'accept-permissions': body.accept_permissions,
    ...Object.assign({}, ...requests.map(request => request.toOptions(body))),
  }
  return Object.fromEntries(Object.entries(options).filter(([, value]) => isSaid(value)))
}

const isSaid = (value: unknown): boolean =>
  value !== undefined && value !== '' && value !== 0 && !(Array.isArray(value) && value.length === 0)
