import type { CodeContent } from '../grants/codes.ts'
import type { Grant } from '../grants/grant.ts'
import { refreshTokenOf } from '../grants/refresh-token.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import { required } from '../protocol/parameters.ts'
import { assertVerifier } from '../protocol/pkce.ts'
import { assertSameAudience } from './audience.ts'
import type { TokenParts } from './token-parts.ts'
import type { GrantHandler, TokenResponse } from './token-request.ts'

/** Exchanges an authorization code for tokens (RFC 6749, section 4.1.3; RFC 7636). */
export const createCodeGrant =
  (parts: TokenParts): GrantHandler =>
  async (client, parameters) => {
    const redirectUri = required(parameters, 'redirect_uri')
    return parts.codes.redeem(required(parameters, 'code'), {
      check({ granted, redirectUri: expected, challenge }) {
        if (granted.clientId !== client.id)
          throw new OAuthError('invalid_grant', 'The code was issued to another client.')
        if (redirectUri !== expected)
          throw new OAuthError('invalid_grant', 'redirect_uri is not that of the authorization request.')
        assertVerifier(parameters.get('code_verifier'), challenge)
        assertSameAudience(parameters, granted.audience)
      },
      async make(content) {
        await parts.clients.keep(client)
        return makeTokens(parts, content)
      },
    })
  }

async function makeTokens(
  parts: TokenParts,
  { granted, nonce, upstreamTokens }: CodeContent,
): Promise<TokenResponse> {
  for (const [upstream, tokens] of Object.entries(upstreamTokens)) {
    await parts.grants.keepUpstream(granted.id, upstream, tokens)
  }
  const grant = await parts.grants.create(granted)
  const idToken = await parts.idTokens.issue(grant, granted.scopes, nonce)
  return { ...(await tokensOf(parts, grant, granted.scopes)), ...(idToken ? { id_token: idToken } : {}) }
}

/** The tokens of a grant as it is now. */
export async function tokensOf(
  { accessTokens, secrets }: TokenParts,
  grant: Grant,
  scopes: readonly string[],
): Promise<TokenResponse> {
  const { clientId, subject, audience, name, email } = grant
  const content = { clientId, subject, audience, name, email, scopes, grantId: grant.id }
  const { token, expiresInSeconds } = await accessTokens.issue(content)
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    scope: scopes.join(' '),
    ...(grant.refreshes ? { refresh_token: refreshTokenOf(grant, secrets) } : {}),
  }
}
