import { refreshTokenGrant, tokenRevocation } from 'openid-client'
import { discoverIssuer } from './issuer.ts'
import { oauthCodeOf, toFailure } from './oauth-failure.ts'
import type { Reach } from './oauth-fetch.ts'
import { type Tokens, toTokens } from './oauth-tokens.ts'

interface Client {
  readonly issuer: string
  readonly clientId: string
  readonly reach: Reach
}

/** Codes that say this refresh token, or this client, will not do again. */
const FINAL = ['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_scope', 'invalid_target']

/**
 * Refreshes tokens (RFC 6749, section 6). Returns why the login is over when the provider says so;
 * a provider that cannot be asked fails with `issuer_unreachable`, and the old tokens stay good.
 */
export async function refresh(
  { issuer, clientId, reach }: Client,
  before: Tokens & { readonly refresh_token: string },
  clock: () => number,
): Promise<Tokens | { readonly over: string }> {
  const config = await discoverIssuer(issuer, clientId, reach)
  try {
    const parameters = before.resource ? { resource: before.resource } : {}
    return toTokens(await refreshTokenGrant(config, before.refresh_token, parameters), { clock, before })
  } catch (error) {
    const code = oauthCodeOf(error)
    if (code && FINAL.includes(code)) return { over: `${issuer} does not renew it (${code})` }
    throw toFailure(error, issuer)
  }
}

/** Takes the tokens back at the provider (RFC 7009), where it can. */
export async function revoke({ issuer, clientId, reach }: Client, tokens: Tokens): Promise<void> {
  const config = await discoverIssuer(issuer, clientId, reach)
  if (!config.serverMetadata().revocation_endpoint) return
  await tokenRevocation(config, tokens.refresh_token ?? tokens.access_token).catch(error => {
    throw toFailure(error, issuer)
  })
}
