import { findRefreshed, notValid } from '../grants/refresh-token.ts'
import { required } from '../protocol/parameters.ts'
import { assertSameAudience } from './audience.ts'
import { tokensOf } from './code-grant.ts'
import { readScopes } from './scopes.ts'
import type { TokenParts } from './token-parts.ts'
import type { GrantHandler } from './token-request.ts'

/**
 * Exchanges a refresh token for new tokens (RFC 6749, section 6). Every refresh token is good for one use. There is
 * no time in which a used one is accepted again: a client whose response was lost has to log in anew, since it
 * cannot be told from a thief.
 */
export const createRefreshGrant =
  (parts: TokenParts): GrantHandler =>
  async (client, parameters) => {
    const { grants, idTokens, secrets } = parts
    const token = required(parameters, 'refresh_token')
    const grant = await findRefreshed(token, grants, secrets, client.id)
    assertSameAudience(parameters, grant.audience)
    const scopes = readScopes(parameters, grant.scopes)
    const next = await grants.rotate(grant)
    if (next) {
      // Without a nonce (OpenID Connect Core, section 12.2).
      const idToken = await idTokens.issue(next, scopes)
      return { ...(await tokensOf(parts, next, scopes)), ...(idToken ? { id_token: idToken } : {}) }
    }
    await grants.revoke(grant.id, grant.upstreams)
    throw notValid()
  }
