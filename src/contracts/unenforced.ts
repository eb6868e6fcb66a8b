import { unenforcedFailures } from './unenforced-failures.ts'

/** A member of a run config that this version does not support. */
interface Unenforced {
  /** What the workload would lack, for people. */
  readonly means: string
  /** What of the value asks for it, where it is a list of several things. */
  readonly which?: (value: unknown) => readonly string[]
  /** Whether the value asks for it at all; absent: anything but an empty value does. */
  readonly asks?: (value: unknown, config: object) => boolean
}

/**
 * Members that ToolHive writes and keelson does not enforce yet. A run config that asks for one of them is
 * refused, since a server that was meant to be behind a login, a filter or a limit must not run without.
 * A row does not count where a plugin has the member in its section; without that plugin it counts again.
 */
const UNENFORCED: Readonly<Record<string, Unenforced>> = {
  oidc_config: { means: 'a login of clients at an OpenID provider' },
  jwks_auth_token_file: { means: 'a login of clients at an OpenID provider' },
  embedded_auth_server_config: { means: 'an authorization server of its own' },
  authz_config: { means: 'authorization of every call' },
  authz_config_path: { means: 'authorization of every call' },
  audit_config: { means: 'an audit log', asks: value => memberOf(value, 'enabled') !== false && says(value) },
  audit_config_path: { means: 'an audit log' },
  tools_filter: { means: 'a selection of tools' },
  tools_override: { means: 'other names of tools' },
  rate_limit_config: { means: 'limits of calls' },
  mutating_webhooks: { means: 'webhooks that change calls' },
  validating_webhooks: { means: 'webhooks that check calls' },
  telemetry_config: { means: 'telemetry', asks: asksForTelemetry },
  remote_auth_config: { means: 'a login at the remote server', asks: asksForLogin },
  token_exchange_config: { means: 'an exchange of tokens' },
  upstream_swap_config: { means: 'an exchange of tokens' },
  aws_sts_config: { means: 'credentials of AWS' },
  header_forward: { means: 'headers for the remote server' },
  scaling_config: { means: 'several replicas', asks: asksForReplicas },
  strict_protocol_validation: { means: 'a strict check of protocol versions' },
  additional_middleware_configs: { means: 'further middlewares', which: typesOf },
  middleware_configs: {
    means: 'middlewares',
    which: typesOf,
    asks: value => (Array.isArray(value) ? value.some(asksForMiddleware) : says(value)),
  },
}

/**
 * Fails with `section_unenforced`, naming every member that this version cannot enforce. The members in
 * `owned` are enforced by plugins, which check and read them in this spelling only.
 */
export function assertEnforced(config: object, owned: ReadonlySet<string> = new Set()): void {
  const members = Object.entries(config).flatMap(([key, value]) => {
    if (owned.has(key)) return []
    const name = key.toLowerCase() // ToolHive reads members in any case
    const row = Object.hasOwn(UNENFORCED, name) ? UNENFORCED[name] : undefined
    if (!row || !(row.asks ?? says)(value, config)) return []
    const which = row.which?.(value) ?? []
    return [`${key} (${row.means}${which.length ? `: ${which.join(', ')}` : ''})`]
  })
  if (members.length) throw unenforcedFailures.section_unenforced({ members })
}

/** Whether a value is set; exports contain many empty ones. */
function says(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return value !== undefined && value !== null && value !== '' && value !== false && value !== 0
  }
  return Object.values(value).some(says)
}

/** ToolHive writes members of some sections in more than one spelling: `use_pkce`, `UsePKCE`. */
const plain = (key: string): string => key.toLowerCase().replaceAll('_', '')

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.entries(value).find(([key]) => plain(key) === plain(name))?.[1]
}

/** Names, rates and attributes matter only when there is an endpoint that telemetry is sent to. */
function asksForTelemetry(value: unknown): boolean {
  if (typeof value !== 'object') return says(value)
  return says(memberOf(value, 'endpoint')) || says(memberOf(value, 'enablePrometheusMetricsPath'))
}

/** How a login would be made is written down for every remote server, also for those without one. */
function asksForLogin(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return says(value)
  const manners = new Set([
    'callbackport',
    'timeout',
    'skipbrowser',
    'usepkce',
    'bearertoken',
    'bearertokenfile',
  ])
  return Object.entries(value).some(([key, member]) => !manners.has(plain(key)) && says(member))
}

/** Redis for limits of calls is nothing that replicas need; the plugin for limits reads it in this spelling. */
function asksForReplicas(value: unknown, config: object): boolean {
  if (typeof value !== 'object') return says(value)
  const replicas = memberOf(value, 'backend_replicas')
  if (replicas !== 1 && says(replicas)) return true
  const { scaling_config, rate_limit_config }: Readonly<Record<string, unknown>> = { ...config }
  const isForLimits = says(rate_limit_config) && scaling_config === value
  return !isForLimits && says(memberOf(value, 'session_redis'))
}

const DEFAULT_BODY_LIMIT = 8 * 1024 * 1024

/**
 * What ToolHive derives from the members above, and the ones that every proxy has: they ask for
 * nothing unless their parameters do. `allowed_origins` is a member of its own, which is kept.
 */
const HARMLESS: Readonly<Record<string, (parameters: unknown) => boolean>> = {
  'mcp-parser': () => false,
  usagemetrics: () => false,
  recovery: () => false,
  origin: () => false,
  bodylimit: parameters => {
    const most = memberOf(parameters, 'max_bytes')
    return says(most) && !(typeof most === 'number' && (most < 0 || most === DEFAULT_BODY_LIMIT))
  },
  auth: parameters => says(memberOf(parameters, 'oidc_config')),
  telemetry: parameters => asksForTelemetry(memberOf(parameters, 'config') ?? null),
  'tool-filter': asksForTools,
  'tool-call-filter': asksForTools,
  'header-forward': parameters => says(memberOf(parameters, 'add_headers')),
}

function asksForTools(parameters: unknown): boolean {
  return says(memberOf(parameters, 'filter_tools')) || says(memberOf(parameters, 'tools_override'))
}

function asksForMiddleware(entry: unknown): boolean {
  const type = memberOf(entry, 'type')
  const asks = typeof type === 'string' && Object.hasOwn(HARMLESS, type) ? HARMLESS[type] : undefined
  return asks ? asks(memberOf(entry, 'parameters')) : says(entry)
}

/** The types of entries that ask for something, as far as they are texts that can be shown. */
function typesOf(entries: unknown): string[] {
  const asking = Array.isArray(entries) ? entries.filter(asksForMiddleware) : []
  return [...new Set(asking.map(entry => memberOf(entry, 'type')))].flatMap(type =>
    typeof type === 'string' && /^[\w-]{1,64}$/.test(type) ? `"${type}"` : [],
  )
}
