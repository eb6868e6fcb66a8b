import type { RunConfig } from '../../src/contracts/run-config.ts'
import { unenforcedFailures } from '../../src/contracts/unenforced-failures.ts'
import { failures } from '../../src/errors.ts'
import {
  anything,
  bool,
  integer,
  type ObjectOf,
  object,
  oneOf,
  optional,
  text,
  textMap,
  texts,
} from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { GRANT_TYPES, isMachine } from './grant-types.ts'
import { mergeHeaders } from './headers/header-flags.ts'
import { assertHeaderName, assertHeaderValue } from './headers/header-rules.ts'
import { PROTOCOL_PARAMETERS } from './oauth/protocol-parameters.ts'
import { toSafeUrl } from './oauth/safe-url.ts'
import { remoteRequest } from './section-request.ts'

/** How keelson logs in to a remote server. Secrets stand here as references, `NAME,target=…`. */
const remoteAuth = {
  bearer_token: optional(text),
  /** Path of a file with the token; read again when it changes. */
  bearer_token_file: optional(text),
  client_id: optional(text),
  client_secret: optional(text),
  client_secret_file: optional(text),
  grant_type: optional(oneOf(GRANT_TYPES)),
  /** Signs in place of a client secret (RFC 7523); PEM or JWK. */
  private_key: optional(text),
  private_key_file: optional(text),
  /** JWS algorithm of the private key. */
  signing_algorithm: optional(text),
  issuer: optional(text),
  authorize_url: optional(text),
  token_url: optional(text),
  resource: optional(text),
  scopes: optional(texts),
  /** Name of the parameter that carries the scopes in the authorization URL. */
  scope_param_name: optional(text),
  /** Further parameters of the authorization URL. */
  oauth_params: optional(textMap),
  callback_port: optional(integer),
  /** A stranger named the issuer or the endpoints: they may not be private. */
  must_be_public: optional(bool),
  skip_browser: optional(bool),
  use_pkce: optional(bool),
  /** How long the person may take: a duration, or nanoseconds as ToolHive writes them. */
  timeout: optional(anything),
  /** The client of the login that was made: there is one. */
  cached_client_id: optional(text),
}

const headerForward = {
  /** Names of secrets by header; read at every start. */
  add_headers_from_secret: optional(textMap),
  add_plaintext_headers: optional(textMap),
}

const members = {
  /** Headers that every request to a remote server gets. */
  header_forward: optional(object(headerForward)),
  remote_auth_config: optional(object(remoteAuth)),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

export type RemoteAuthConfig = NonNullable<RunConfig['remote_auth_config']>
export type HeaderForward = NonNullable<RunConfig['header_forward']>

const MOST_HEADERS = 100

/** Checks the members that say how a remote server is logged in to. */
export const authOutSection: Section = {
  members,
  request: remoteRequest,
  check(config) {
    assertEnforced(config.remote_auth_config ?? {})
    assertPlaces(config.remote_auth_config ?? {})
    assertClient(config.remote_auth_config ?? {})
    assertParameters(config.remote_auth_config ?? {})
    const { header_forward: headers, remote_auth_config: auth } = config
    const plain = Object.entries(headers?.add_plaintext_headers ?? {})
    const secret = Object.entries(headers?.add_headers_from_secret ?? {})
    assertHeaders(plain, secret)
    const isOwn = (name: string) => name.toLowerCase() === 'authorization'
    if (
      (auth?.bearer_token || auth?.bearer_token_file) &&
      [...plain, ...secret].some(([name]) => isOwn(name))
    ) {
      throw failures.usage({
        text: 'A bearer token and a forwarded header Authorization are the same header.',
        hint: 'Give one of them.',
      })
    }
    if (config.image && !config.remote_url && Object.values({ ...auth, ...headers }).some(Boolean)) {
      throw failures.usage({ text: 'remote_auth_config and header_forward are for remote servers only.' })
    }
    if (auth?.bearer_token && auth.bearer_token_file) {
      throw failures.usage({ text: 'bearer_token and bearer_token_file do not go together.' })
    }
  },
  merge({ header_forward: under, remote_auth_config: auth }, asked) {
    return {
      ...(under && asked.header_forward ? { header_forward: mergeHeaders(under, asked.header_forward) } : {}),
      ...(auth && asked.remote_auth_config
        ? { remote_auth_config: { ...auth, ...asked.remote_auth_config } }
        : {}),
    }
  },
}

/** Ports below this one are for the system (RFC 6335 section 6). */
const FIRST_USER_PORT = 1024

function assertPlaces({ authorize_url, token_url, ...auth }: RemoteAuthConfig): void {
  for (const [member, url] of Object.entries({ issuer: auth.issuer, authorize_url, token_url })) {
    if (!url || toSafeUrl(url)) continue
    throw failures.usage({ text: `${member} of the login is an https URL, or http on this machine.` })
  }
  if (Boolean(authorize_url) !== Boolean(token_url) && !(token_url && isMachine(auth))) {
    throw failures.usage({ text: 'authorize_url and token_url of the login go together.' })
  }
  const resource = URL.parse(auth.resource ?? '')
  if (auth.resource && (!resource?.host || resource.hash)) {
    throw failures.usage({
      text: 'resource of the login is a URL with a host, without a fragment (RFC 8707).',
    })
  }
  if (auth.callback_port && auth.callback_port < FIRST_USER_PORT) {
    throw failures.usage({ text: `callback_port of the login is ${FIRST_USER_PORT} or more, or 0 for any.` })
  }
}

function assertClient(auth: RemoteAuthConfig): void {
  const { client_id, client_secret, client_secret_file, private_key, private_key_file } = auth
  if (isMachine(auth) && !client_id) {
    throw failures.usage({
      text: 'grant_type client_credentials needs a client_id.',
      hint: 'Give --remote-auth-client-id with its secret or private key.',
    })
  }
  if (isMachine(auth) && (auth.bearer_token || auth.bearer_token_file)) {
    throw failures.usage({ text: 'A bearer token and grant_type client_credentials do not go together.' })
  }
  if ([client_secret, client_secret_file, private_key, private_key_file].filter(Boolean).length > 1) {
    throw failures.usage({ text: 'A client of the login has one secret or one private key.' })
  }
}

function assertHeaders(
  plain: readonly (readonly [string, string])[],
  secret: readonly (readonly [string, string])[],
): void {
  const names = new Set<string>()
  for (const [name] of [...plain, ...secret]) {
    assertHeaderName(name)
    if (names.has(name.toLowerCase())) {
      throw failures.usage({ text: `The forwarded header ${name} has two values.` })
    }
    names.add(name.toLowerCase())
  }
  if (names.size > MOST_HEADERS) {
    throw failures.usage({ text: `At most ${MOST_HEADERS} headers are forwarded, not ${names.size}.` })
  }
  for (const [name, value] of plain) assertHeaderValue(name, value)
  for (const [name, reference] of secret) {
    if (!reference) throw failures.usage({ text: `The forwarded header ${name} names no secret.` })
  }
}

/** Refuses members that this version does not know; what ToolHive has cached is of no use here. */
function assertEnforced(auth: object): void {
  const others = Object.entries(auth).filter(
    ([name, value]) => !Object.hasOwn(remoteAuth, name) && !name.startsWith('cached_') && !isEmpty(value),
  )
  if (others.length) {
    throw unenforcedFailures.section_unenforced({
      members: others.map(([name]) => `remote_auth_config.${name} (a login at the remote server)`),
    })
  }
}

/** Fails with `usage` for parameters of the authorization URL that belong to the protocol. */
function assertParameters({ scope_param_name: scopes, oauth_params: others = {} }: RemoteAuthConfig): void {
  const wrong = [scopes, ...Object.keys(others)].find(name => PROTOCOL_PARAMETERS.includes(name ?? ''))
  if (wrong === undefined) return
  throw failures.usage({
    text: `The parameter "${wrong}" of a login belongs to the protocol and cannot be set.`,
    hint: 'Leave it out of scope_param_name (--remote-auth-scope-param-name) and oauth_params.',
  })
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).every(isEmpty) : !value
