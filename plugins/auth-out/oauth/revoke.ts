import { tokenRevocation } from 'openid-client'
import { openSession } from './configuration.ts'
import { refusalOf, toFailure } from './to-failure.ts'
import type { OAuthEngine, Reach } from './types.ts'

/**
 * Takes tokens back (RFC 7009): the refresh token, which ends the grant at most servers, then the access token.
 * Returns false where the server has no place for that, or for none of these tokens (section 2.2.1). Fails like a
 * login.
 */
export async function revoke(request: Parameters<OAuthEngine['revoke']>[0], reach: Reach): Promise<boolean> {
  const { discovery, tokens } = request
  if (discovery.server.revocation_endpoint === undefined) return false
  const { config } = await openSession(request, reach)
  const all = [
    ['refresh_token', tokens.refreshToken],
    ['access_token', tokens.accessToken],
  ] as const
  let isRevoked = false
  for (const [hint, token] of all) {
    if (token === undefined) continue
    try {
      await tokenRevocation(config, token, { token_type_hint: hint })
      isRevoked = true
    } catch (error) {
      if (reach.signal?.aborted) throw reach.signal.reason
      const failure = toFailure(error, discovery.issuer)
      // Some servers cannot take back access tokens that stand for themselves.
      if (refusalOf(failure) !== 'unsupported_token_type') throw failure
    }
  }
  return isRevoked
}
