import { parseDuration } from '../../src/lib/duration.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { findOpenIssuer } from '../auth-in/index.ts'
import { callbackPath } from './authorize/callback-path.ts'
import { failures } from './failures.ts'
import type { AuthServerConfig, UpstreamConfig } from './section.ts'
import { DEFAULT_SCOPES, LIFESPANS } from './settings.ts'
import { checkStorage } from './storage/open-store.ts'
import { checkUpstream } from './upstream/check-upstream.ts'

const wrong = (problem: string, hint?: string) => failures.auth_server_config_invalid({ problem, hint })

/** RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/
const UPSTREAM_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i

/** Checks what the schema cannot say. Fails with `auth_server_config_invalid`. */
export function checkAuthServer(config: AuthServerConfig): void {
  const { issuer, authorization_endpoint_base_url: base, insecure_allow_http: allowHttp = false } = config
  if (issuer) assertUrl('issuer (--auth-server-issuer)', issuer, allowHttp)
  if (base) assertUrl('authorization_endpoint_base_url', base, allowHttp)
  for (const audience of config.allowed_audiences ?? []) assertAudience(audience)
  assertScopes(config)
  assertLifespans(config)
  assertUpstreams(config.upstreams)
  assertAllowedLogins(config)
  assertTrustedIssuers(config)
  assertCimd(config)
  checkStorage(config.storage ?? {})
}

/** A login proves nothing where anybody can have an account. */
function assertAllowedLogins({ allowed_logins: rules = [], upstreams: [first] }: AuthServerConfig): void {
  assertRules(rules)
  const { issuer_url: issuer } = first?.oidc_config ?? {}
  const url = first?.type === 'oidc' ? issuer : first?.oauth2_config?.authorization_endpoint
  const open = rules.length || !url || !URL.canParse(url) ? undefined : findOpenIssuer({ issuer: url })
  if (open === undefined) return
  throw wrong(
    `anybody can have an account at ${open}`,
    'Say who may log in with --auth-server-allow (allowed_logins), for example email=ada@example.com.',
  )
}

function assertRules(rules: readonly string[]): void {
  const bad = rules.find(rule => !/^[^=]+=./s.test(rule))
  if (bad === undefined) return
  throw wrong(
    `"${bad}" does not have the form claim=value`,
    'For example: email=ada@example.com, groups=admins.',
  )
}

/** RFC 8414, section 2: neither query nor fragment. */
function assertUrl(member: string, text: string, allowHttp: boolean): void {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) throw wrong(`${member} "${text}" is not an http or https URL`)
  if (url.username || url.password || url.search || url.hash)
    throw wrong(`${member} holds a user name, a query or a fragment`)
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !allowHttp) {
    throw wrong(
      `${member} must be an https URL, or whoever is in between can take the tokens`,
      'For development there is insecure_allow_http (in the file of --auth-server-config).',
    )
  }
}

function assertAudience(audience: string): void {
  const url = URL.parse(audience)
  if (!url || url.hash) throw wrong(`the audience "${audience}" is not an absolute URI without a fragment`)
}

function assertScopes({ scopes_supported, baseline_client_scopes = [] }: AuthServerConfig): void {
  const scopes = scopes_supported?.length ? scopes_supported : DEFAULT_SCOPES
  const bad = scopes.find(scope => !SCOPE.test(scope))
  if (bad !== undefined) throw wrong(`"${bad}" cannot be the name of a scope`)
  const unknown = baseline_client_scopes.find(scope => !scopes.includes(scope))
  if (unknown !== undefined)
    throw wrong(`baseline_client_scopes names "${unknown}", which is not in scopes_supported`)
}

function assertLifespans({ token_lifespans: given = {} }: AuthServerConfig): void {
  for (const [member, { leastMs, mostMs, range }] of Object.entries(LIFESPANS)) {
    const text = given[member as keyof typeof LIFESPANS]
    if (!text) continue
    const ms = parseDuration(text)
    if (ms === undefined) throw wrong(`${member} takes a duration such as 30m or 2h, not "${text}"`)
    if (ms < leastMs || ms > mostMs) throw wrong(`${member} must be ${range}, not ${text}`)
  }
}

function assertUpstreams(upstreams: readonly UpstreamConfig[]): void {
  if (upstreams.length === 0)
    throw wrong('no upstream provider is named', 'Name one with --auth-server-upstream (upstreams).')
  const names = new Set<string>()
  for (const [index, upstream] of upstreams.entries()) {
    const { name = 'default' } = upstream
    if (!UPSTREAM_NAME.test(name)) throw wrong(`"${name}" cannot be the name of an upstream provider`)
    if (names.has(name)) throw wrong(`two upstream providers have the name "${name}"`)
    names.add(name)
    checkUpstream(upstream)
    const { redirect_uri: redirectUri } = upstream.oidc_config ?? upstream.oauth2_config ?? {}
    const path = callbackPath(index, name)
    if (upstreams.length > 1 && redirectUri && !URL.parse(redirectUri)?.pathname.endsWith(path))
      throw wrong(
        `redirect_uri of "${name}" does not end with ${path}`,
        'Of several providers each needs its own, or one could pass off the code of another.',
      )
  }
}

function assertTrustedIssuers({ trusted_issuers = [], allow_confidential_clients }: AuthServerConfig): void {
  for (const { issuer, jwks_url: url, jwks_file: file, allowed_logins: rules } of trusted_issuers) {
    assertRules(rules ?? [])
    if (!issuer) throw wrong('a trusted issuer has no name (issuer)')
    if (Boolean(url) === Boolean(file))
      throw wrong(`the trusted issuer "${issuer}" needs jwks_url or jwks_file, and not both`)
    if (url) assertUrl(`jwks_url of "${issuer}"`, url, false)
  }
  if (trusted_issuers.length && !allow_confidential_clients)
    throw wrong(
      'only clients with a secret can present assertions of trusted_issuers',
      'Set allow_confidential_clients.',
    )
}

function assertCimd({ cimd }: AuthServerConfig): void {
  const { cache_max_size: most, cache_fallback_ttl: ttl } = cimd ?? {}
  if (most !== undefined && (most < 0 || most > 10_000))
    throw wrong(`cimd.cache_max_size must be between 0 and 10000, not ${most}`)
  if (ttl && parseDuration(ttl) === undefined)
    throw wrong(`cimd.cache_fallback_ttl takes a duration such as 5m, not "${ttl}"`)
}
