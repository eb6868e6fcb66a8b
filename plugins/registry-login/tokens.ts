import type { TokenSet } from '../auth-out/index.ts'

/** What a login gave, as it is stored. */
export interface Tokens {
  readonly access_token: string
  /** Absent when the provider gives none; the login then ends with the access token. */
  readonly refresh_token?: string | undefined
  /** Milliseconds since 1970; absent when the provider does not say (RFC 6749, section 5.1). */
  readonly expires_at?: number | undefined
  /** The resource they are for (RFC 8707), asked for again at each refresh. */
  readonly resource?: string | undefined
}

export const toTokens = ({ accessToken, refreshToken, expiresAt }: TokenSet, resource: string): Tokens => ({
  access_token: accessToken,
  refresh_token: refreshToken,
  expires_at: expiresAt,
  resource: resource || undefined,
})
