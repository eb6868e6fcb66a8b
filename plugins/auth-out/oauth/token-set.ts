import type { TokenEndpointResponse } from 'openid-client'
import { toScopes } from './challenge.ts'
import { toEndTime } from './end-time.ts'
import type { TokenSet } from './types.ts'

/** Reads a token response (RFC 6749 section 5.1). What a refresh leaves out stays as it was (section 6). */
export function toTokenSet(
  response: TokenEndpointResponse,
  options: {
    readonly clock: () => number
    readonly idToken?: string | undefined
    /** What was asked for, or granted before. */
    readonly scopes: readonly string[]
    readonly refreshToken?: string | undefined
  },
): TokenSet {
  const seconds = response.expires_in
  return {
    accessToken: response.access_token,
    refreshToken: response.refresh_token ?? options.refreshToken,
    idToken: options.idToken,
    expiresAt: seconds === undefined ? undefined : toEndTime(options.clock() + seconds * 1000),
    scopes: typeof response.scope === 'string' ? toScopes(response.scope) : options.scopes,
  }
}
