import type { Caller, LocalIssuer } from '../../../src/contracts/caller-auth.ts'
import type { StoredTokens } from './stored-tokens.ts'

/**
 * Returns the token that a caller has at an upstream provider; undefined where they have none that is valid. Fails with
 * `auth_store_unavailable` and `upstream_unavailable`.
 */
export type UpstreamTokenOf = (caller: Caller | undefined) => Promise<string | undefined>

/** `own`: the issuer of the grants; another one that is trusted here says nothing about them. */
export const createUpstreamTokenOf =
  (own: LocalIssuer, stored: StoredTokens, provider: string): UpstreamTokenOf =>
  async caller => {
    const { issuer, claims } = caller ?? {}
    if (issuer !== own.issuer || typeof claims?.tsid !== 'string') return undefined
    const token = await stored.accessToken(claims.tsid, provider)
    return token !== undefined && /^[\x21-\x7e]+$/.test(token) ? token : undefined
  }
