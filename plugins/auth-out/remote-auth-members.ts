import { anything, bool, oneOf, optional, port, text, textMap, texts } from '../../src/lib/schema.ts'
import { GRANT_TYPES } from './grant-types.ts'

/** How keelson logs in to a remote server. Secrets stand here as references, `NAME,target=…`. */
export const remoteAuth = {
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
  callback_port: optional(port),
  /** A stranger named the issuer or the endpoints: they may not be private. */
  must_be_public: optional(bool),
  skip_browser: optional(bool),
  use_pkce: optional(bool),
  /** How long the person may take: a duration, or nanoseconds as ToolHive writes them. */
  timeout: optional(anything),
  /** The client of the login that was made: there is one. */
  cached_client_id: optional(text),
}
