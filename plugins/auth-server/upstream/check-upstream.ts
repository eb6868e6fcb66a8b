import { isLoopback } from '../../../src/net/loopback.ts'
import type { UpstreamConfig } from '../section.ts'
import { failures } from './failures.ts'
import { nameOf, type OAuth2Config, type OidcConfig, type UserinfoConfig } from './upstream-config.ts'

/** The protection of a login hangs on these (RFC 6749, RFC 7636, RFC 9101, OpenID Connect Core). */
const PROTOCOL_PARAMETERS: readonly string[] = [
  ...['response_type', 'response_mode', 'client_id', 'client_secret', 'client_assertion', 'redirect_uri'],
  ...['state', 'nonce', 'code', 'code_challenge', 'code_challenge_method', 'code_verifier', 'grant_type'],
  ...['request', 'request_uri', 'scope'],
]

/** Headers that belong to the request itself. */
const OWN_HEADERS = /^(authorization|cookie|host|connection|content-length|transfer-encoding|proxy-.*)$/i
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Checks what the schema cannot say, without reading files and variables. Fails with `upstream_config_invalid`. */
export function checkUpstream(upstream: UpstreamConfig): void {
  const wrong = (problem: string) => failures.upstream_config_invalid({ name: nameOf(upstream), problem })
  const { type, oidc_config: oidc, oauth2_config: oauth2 } = upstream
  const config = type === 'oidc' ? oidc : oauth2
  if (!config) throw wrong(`${type}_config is missing`)
  if (oidc && oauth2) throw wrong('oidc_config and oauth2_config do not go together')

  const url = (member: string, text: string | undefined): void => {
    const parsed = URL.parse(text ?? '')
    if (!text) throw wrong(`${member} is missing`)
    if (!parsed || parsed.username || parsed.password || parsed.hash) throw wrong(`${member} is not a URL`)
    if (parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed.hostname))) return
    throw wrong(`${member} must be an https URL`)
  }
  const own = Object.keys(config.additional_authorization_params ?? {}).find(name =>
    PROTOCOL_PARAMETERS.includes(name.toLowerCase()),
  )
  if (own !== undefined) throw wrong(`additional_authorization_params sets "${own}", which the login needs`)
  if (config.redirect_uri) url('redirect_uri', config.redirect_uri)
  if (config.client_secret_file && config.client_secret_env_var) {
    throw wrong('client_secret_file and client_secret_env_var do not go together')
  }
  if (oidc) checkOidc(oidc, { url, wrong })
  if (oauth2) checkOAuth2(oauth2, { url, wrong })
}

interface Checks {
  url(member: string, text: string | undefined): void
  wrong(problem: string): Error
}

function checkOidc(config: OidcConfig, checks: Checks): void {
  checks.url('issuer_url (--auth-server-upstream)', config.issuer_url)
  if (!config.client_id) throw checks.wrong('client_id (--auth-server-client-id) is missing')
  const { max_age: age = '0' } = config.additional_authorization_params ?? {}
  if (!/^\d{1,9}$/.test(age)) throw checks.wrong('max_age is a number of seconds')
  checkUserinfo('userinfo_override', config.userinfo_override, checks)
}

function checkOAuth2(config: OAuth2Config, checks: Checks): void {
  const { dcr_config: dcr, userinfo, identity_from_token: identity } = config
  checks.url('authorization_endpoint', config.authorization_endpoint)
  checks.url('token_endpoint', config.token_endpoint)
  if (!config.client_id && !dcr) throw checks.wrong('client_id is missing, and dcr_config too')
  if (config.client_id && dcr) throw checks.wrong('client_id and dcr_config do not go together')
  if (dcr && Boolean(dcr.registration_endpoint) === Boolean(dcr.discovery_url)) {
    throw checks.wrong('dcr_config needs registration_endpoint or discovery_url, and not both')
  }
  if (dcr) {
    checks.url('dcr_config', dcr.registration_endpoint || dcr.discovery_url)
    if (dcr.initial_access_token_file && dcr.initial_access_token_env_var) {
      throw checks.wrong('initial_access_token_file and initial_access_token_env_var do not go together')
    }
  }
  if (!userinfo && !identity?.subject_path) {
    throw checks.wrong('userinfo or identity_from_token.subject_path has to say who logged in')
  }
  checkUserinfo('userinfo', userinfo, checks)
}

function checkUserinfo(member: string, config: UserinfoConfig | undefined, { url, wrong }: Checks): void {
  if (!config) return
  url(`${member}.endpoint_url`, config.endpoint_url)
  const { http_method: method, additional_headers: headers = {} } = config
  if (method && !/^(GET|POST)$/i.test(method)) throw wrong(`${member}.http_method is neither GET nor POST`)
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value) || OWN_HEADERS.test(name)) {
      throw wrong(`${member}.additional_headers sets "${name}", which is not allowed`)
    }
  }
}
