import { failures } from '../../src/errors.ts'
import { secretReference, toSecretReference } from '../../src/http/secret-reference.ts'
import { assertUnset, sectionRequest } from '../../src/http/section-request.ts'
import { bool, object, optional, port, text, textMap, texts } from '../../src/lib/schema.ts'

/** How keelson logs in to a remote server. */
const oauthConfig = object({
  bearer_token: optional(secretReference),
  client_secret: optional(secretReference),
  client_id: optional(text),
  issuer: optional(text),
  authorize_url: optional(text),
  token_url: optional(text),
  resource: optional(text),
  scopes: optional(texts),
  oauth_params: optional(textMap),
  callback_port: optional(port),
  skip_browser: optional(bool),
  use_pkce: optional(bool),
})

const headerForward = optional(
  object({ add_headers_from_secret: optional(textMap), add_plaintext_headers: optional(textMap) }),
)

/** What requests say about the login at a remote server, and about its headers. */
export const remoteRequest = sectionRequest({
  body: { oauth_config: optional(oauthConfig), header_forward: headerForward },
  details: { oauth_config: oauthConfig, header_forward: headerForward },
  toOptions({ oauth_config = {}, header_forward = {} }) {
    const { bearer_token: token, callback_port: _, skip_browser: __, use_pkce: ___, ...others } = oauth_config
    for (const [member, value] of Object.entries(others)) assertUnset({ [`oauth_config.${member}`]: value })
    return {
      'remote-auth-bearer-token': token?.name ? `${token.name},target=bearer_token` : undefined,
      'remote-forward-headers': pairs(header_forward.add_plaintext_headers),
      'remote-forward-headers-secret': pairs(header_forward.add_headers_from_secret),
    }
  },
  toDetails: ({ remote_auth_config: auth, header_forward }) => ({
    oauth_config: auth?.bearer_token ? { bearer_token: toSecretReference(auth.bearer_token) } : {},
    ...(header_forward ? { header_forward } : {}),
  }),
  keptWithTarget: ['remote_auth_config', 'header_forward'],
})

const pairs = (map: Readonly<Record<string, string>> = {}): string[] =>
  Object.entries(map).map(([name, value]) => {
    if (name.includes('=')) throw failures.usage({ text: `"${name}" cannot be the name of a header.` })
    return `${name}=${value}`
  })
