import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isEmpty } from '../../../src/lib/is-empty.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { EDGE_PORT } from './manifest.ts'

/** Members that the edge enforces as this machine does, with nothing but what they say. */
const OF_EDGE = new Set([
  ...['allowed_origins', 'endpoint_prefix', 'max_body_bytes', 'protocol', 'session_ttl', 'stateless'],
  ...['trust_proxy_headers', 'tools_filter', 'tools_override', 'tools_deny', 'tools_read_only'],
  ...['oidc_config', 'authz_config', 'audit_config', 'rate_limit_config', 'header_forward'],
  ...['remote_url', 'remote_keeps_paths', 'remote_must_be_public', 'transport', 'permission_profile'],
])

/** Members that become something else in the manifests, or that say only how this machine has made or named it. */
const ELSEWHERE = new Set([
  ...['schema_version', 'name', 'base_name', 'container_name', 'group', 'runtime', 'source', 'host', 'port'],
  ...['image', 'cmd_args', 'env_vars', 'secrets', 'resources', 'target_host', 'target_port', 'proxy_mode'],
  ...['isolate_network', 'permission_profile_name_or_path', 'container_labels', 'debug', 'runtime_config'],
  ...[
    'image_verification',
    'image_signer',
    'accepted_permissions',
    'middleware_configs',
    'registry_server_name',
  ],
  ...['registry_url', 'registry_api_url', 'registry_source', 'registry_env_vars', 'ignore_config'],
])

/** Parts of members that name files, secrets and consents of this machine. */
const NOT_IN_PODS: Readonly<Record<string, readonly string[]>> = {
  oidc_config: ['clientSecret', 'clientSecretFile', 'cacertPath', 'authTokenFile', 'allowPrivateIP'],
  authz_config: ['pdp'],
  audit_config: ['logFile', 'syslog', 'otlp'],
  permission_profile: ['read', 'write', 'privileged'],
}

/** The members of a run config, or their parts, that a pod cannot keep. */
export function membersOfThisMachine(config: RunConfig): string[] {
  return Object.entries(config).flatMap(([member, value]) => {
    if (ELSEWHERE.has(member) || isEmpty(value)) return []
    if (!OF_EDGE.has(member)) return [member]
    const refused = (NOT_IN_PODS[member] ?? []).map(part => part.toLowerCase())
    return Object.entries(isObject(value) ? value : {}).flatMap(([part, inner]) =>
      refused.includes(part.toLowerCase()) && !isEmpty(inner) ? [`${member}.${part}`] : [],
    )
  })
}

/** The run config of the edge: that of a remote server, which for a server of the cluster is its Service. */
export function toEdgeConfig(config: RunConfig, serverUrl: string | undefined): RunConfig {
  const kept = Object.entries(config).filter(([member, value]) => OF_EDGE.has(member) && !isEmpty(value))
  return {
    ...(Object.fromEntries(kept) as Partial<RunConfig>),
    schema_version: config.schema_version,
    name: config.name,
    transport: config.transport,
    host: '0.0.0.0',
    port: EDGE_PORT,
    ...(serverUrl ? { remote_url: serverUrl, remote_keeps_paths: true } : {}),
  }
}

/** The ports of all URLs in a value, e.g. of a remote server and of an identity provider; sorted. */
export function portsOfUrls(value: unknown): number[] {
  const ports = new Set<number>()
  const visit = (part: unknown): void => {
    if (typeof part === 'object' && part !== null) for (const inner of Object.values(part)) visit(inner)
    const url = typeof part === 'string' && /^https?:\/\//i.test(part) ? URL.parse(part) : null
    if (url) ports.add(Number(url.port) || (url.protocol === 'http:' ? 80 : 443))
  }
  visit(value)
  return [...ports].sort((a, b) => a - b)
}
