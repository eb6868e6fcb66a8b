/** Error codes of RFC 6749 (sections 4.1.2.1 and 5.2), RFC 7591, RFC 8707 and OpenID Connect Core (section 3.1.2.6). */
export type OAuthErrorCode =
  | 'access_denied'
  | 'consent_required'
  | 'interaction_required'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'login_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'unsupported_token_type'

/** A request that breaks the protocol. The client is told the code and the description. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthErrorCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: OAuthErrorCode,
    description: string,
    { status = 400, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(description)
    this.code = code
    this.status = status
    this.headers = headers
  }
}

/** The storage has no room; the client may try again. */
export const noRoom = (what: string): OAuthError =>
  new OAuthError('temporarily_unavailable', `There are too many ${what} at the moment. Try again later.`, {
    status: 503,
    headers: { 'retry-after': '60' },
  })
