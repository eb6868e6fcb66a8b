import type { TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client'

/** What a login gave. */
export interface Tokens {
  readonly access_token: string
  /** Absent when the provider gives none; the login then ends with the access token. */
  readonly refresh_token?: string | undefined
  /** Milliseconds since 1970; absent when the provider does not say (RFC 6749, section 5.1). */
  readonly expires_at?: number | undefined
  /** The resource they are for (RFC 8707), asked for again at each refresh. */
  readonly resource?: string | undefined
}

/** Reads a token response. What a refresh leaves out stays as it was (RFC 6749, section 6). */
export function toTokens(
  answer: TokenEndpointResponse & TokenEndpointResponseHelpers,
  {
    clock,
    before,
    resource = before?.resource,
  }: { clock: () => number; before?: Tokens; resource?: string | undefined },
): Tokens {
  const seconds = answer.expiresIn()
  return {
    access_token: answer.access_token,
    refresh_token: answer.refresh_token ?? before?.refresh_token,
    expires_at: seconds === undefined ? undefined : clock() + seconds * 1000,
    resource,
  }
}
