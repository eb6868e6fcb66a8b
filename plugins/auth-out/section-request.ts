import { failures as core } from '../../src/errors.ts'
import { httpFailures } from '../../src/http/failures.ts'
import { secretReference, toSecretReference } from '../../src/http/secret-reference.ts'
import { sectionRequest } from '../../src/http/section-request.ts'
import { isEmpty } from '../../src/lib/is-empty.ts'
import {
  bool,
  mapOf,
  object,
  optional,
  port,
  type TypeOf,
  text,
  textMap,
  texts,
} from '../../src/lib/schema.ts'
import { wordOrEmpty } from '../../src/lib/text-schema.ts'
import { referredName, toReference } from './credentials/kept-secret.ts'
import { failures } from './failures.ts'
import { GRANT_TYPES } from './grant-types.ts'
import { headerName, headerValue } from './headers/header-rules.ts'
import { remoteAuth } from './remote-auth-members.ts'
import type { RemoteAuthConfig } from './section.ts'

const oauthMembers = {
  bearer_token: optional(secretReference),
  client_secret: optional(secretReference),
  client_id: optional(text),
  grant_type: optional(wordOrEmpty(GRANT_TYPES)),
  private_key: optional(secretReference),
  signing_algorithm: optional(text),
  issuer: optional(text),
  authorize_url: optional(text),
  token_url: optional(text),
  resource: optional(text),
  scopes: optional(texts),
  oauth_params: optional(textMap),
  callback_port: optional(port),
  skip_browser: optional(bool),
  use_pkce: optional(bool),
}

/** How keelson logs in to a remote server. */
const oauthConfig = object(oauthMembers)
type OAuthConfig = TypeOf<typeof oauthConfig>

const headerForward = optional(
  object({
    add_headers_from_secret: optional(mapOf(headerName, text)),
    add_plaintext_headers: optional(mapOf(headerName, headerValue)),
  }),
)

/** What requests say about the login at a remote server, and about its headers. */
export const remoteRequest = sectionRequest({
  body: {
    oauth_config: optional(oauthConfig),
    header_forward: headerForward,
    remote_auth_config: optional(object(remoteAuth)),
    image: optional(text),
  },
  details: { oauth_config: oauthConfig, header_forward: headerForward },
  toOptions({ header_forward = {}, image, ...body }) {
    const oauth_config = loginOf(body) ?? {}
    const asksNothing = isIdle(oauth_config)
    if (oauth_config.use_pkce === false && !asksNothing) throw failures.pkce_not_optional()
    const asked = asksNothing && image ? {} : oauth_config
    const { bearer_token: token, client_secret: secret } = asked
    return {
      'remote-auth-bearer-token': token?.name ? toReference(token.name, 'bearer_token') : undefined,
      'remote-auth-client-secret': secret?.name ? toReference(secret.name, 'oauth_secret') : undefined,
      'remote-auth-client-id': asked.client_id,
      'remote-auth-grant-type': asked.grant_type || undefined,
      'remote-auth-signing-algorithm': asked.signing_algorithm,
      'remote-auth-issuer': asked.issuer,
      'remote-auth-authorize-url': asked.authorize_url,
      'remote-auth-token-url': asked.token_url,
      'remote-auth-resource': asked.resource,
      'remote-auth-scopes': asked.scopes,
      'remote-auth-callback-port': asked.callback_port,
      'remote-auth-skip-browser': asked.skip_browser || undefined,
      'remote-forward-headers': pairs(header_forward.add_plaintext_headers),
      'remote-forward-headers-secret': pairs(header_forward.add_headers_from_secret),
    }
  },
  toMembers({ header_forward, ...body }, { remote_auth_config: auth, ...kept }) {
    const asked = loginOf(body)
    const { oauth_params = {}, private_key: key } = asked ?? {}
    const members: RemoteAuthConfig = {
      ...unsaidByOptions(body.remote_auth_config),
      ...(Object.keys(oauth_params).length ? { oauth_params } : {}),
      ...(key?.name ? { private_key: toReference(key.name, 'private_key') } : {}),
    }
    const isSaid = auth !== undefined || Object.keys(members).length > 0
    return {
      ...(asked && isSaid ? { remote_auth_config: { ...hiddenOf(auth, asked), ...members } } : {}),
      ...(header_forward && kept.header_forward ? { header_forward: {} } : {}),
    }
  },
  toDetails: ({ remote_auth_config: auth = {}, header_forward }) => ({
    oauth_config: toOAuthConfig(auth),
    ...(header_forward ? { header_forward } : {}),
  }),
  keptWithTarget: ['remote_auth_config', 'header_forward'],
})

interface Login {
  readonly oauth_config?: OAuthConfig
  readonly remote_auth_config?: RemoteAuthConfig
}

/**
 * The login that a body asks for: `oauth_config` or, as in exports, `remote_auth_config`. Secrets must be references. Fails
 * with `file_unconfirmed` where the body names a file: none is read because a request says so.
 */
function loginOf({ oauth_config, remote_auth_config: exported = {} }: Login): OAuthConfig | undefined {
  if (isEmpty(exported)) return oauth_config
  if (!isEmpty(oauth_config)) {
    throw core.usage({
      text: 'Both oauth_config and remote_auth_config are given.',
      hint: 'Give one of them.',
    })
  }
  const { bearer_token_file, client_secret_file, private_key_file, issuer, token_url } = exported
  const path = bearer_token_file || client_secret_file || private_key_file
  if (path)
    throw httpFailures.file_unconfirmed({ path, receiver: token_url || issuer || 'the remote server' })
  for (const member of ['bearer_token', 'client_secret', 'private_key'] as const) {
    const value = exported[member]
    if (!value || referredName(value) !== undefined) continue
    throw core.usage({
      text: `remote_auth_config.${member} of a request must be a reference such as \`NAME,target=${member}\`.`,
      hint: 'Store the secret first, and name it.',
    })
  }
  return toOAuthConfig(exported)
}

/** The members of an export that no option sets, without what ToolHive has cached of earlier logins. */
const unsaidByOptions = (exported: RemoteAuthConfig = {}): RemoteAuthConfig =>
  Object.fromEntries(
    Object.entries(exported).filter(
      ([name, value]) => !Object.hasOwn(oauthMembers, name) && !name.startsWith('cached_') && !isEmpty(value),
    ),
  )

/** Whether there are only settings of how to log in. Forms send these with every workload. */
const isIdle = ({ use_pkce: _, skip_browser: __, callback_port: ___, ...rest }: OAuthConfig): boolean =>
  isEmpty(rest)

/** What the details do not show, without the files that a secret of the request takes the place of. */
function hiddenOf(auth: RemoteAuthConfig = {}, asked: OAuthConfig): RemoteAuthConfig {
  const replaced: string[] = Object.keys(oauthMembers)
  if (asked.bearer_token?.name) replaced.push('bearer_token_file')
  if (asked.client_secret?.name || asked.private_key?.name) {
    replaced.push('client_secret_file', 'private_key_file')
  }
  return Object.fromEntries(Object.entries(auth).filter(([member]) => !replaced.includes(member)))
}

/** Secrets are shown by their names alone. */
function toOAuthConfig(auth: RemoteAuthConfig): OAuthConfig {
  const { bearer_token, client_secret, private_key, ...others } = auth
  const secrets = Object.entries({ bearer_token, client_secret, private_key }).flatMap(
    ([member, said = '']) => (referredName(said) === undefined ? [] : [[member, toSecretReference(said)]]),
  )
  const shown = Object.entries(others).filter(([member]) => Object.hasOwn(oauthMembers, member))
  return Object.fromEntries([...shown, ...secrets])
}

const pairs = (map: Readonly<Record<string, string>> = {}): string[] =>
  Object.entries(map).map(([name, value]) => {
    if (name.includes('=')) throw core.usage({ text: `"${name}" cannot be the name of a header.` })
    return `${name}=${value}`
  })
