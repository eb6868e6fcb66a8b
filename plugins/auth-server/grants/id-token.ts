import { SignJWT } from 'jose'
import type { SigningKeys } from '../keys/signing-keys.ts'
import type { Grant } from './grant.ts'
import { profileClaims } from './profile-claims.ts'

/** Issues ID tokens, which tell a client who has logged in. */
export interface IdTokens {
  /** Returns undefined where the scope `openid` is not among those granted. `nonce`: what the client sent with its request. */
  issue(grant: Grant, scopes: readonly string[], nonce?: string): Promise<string | undefined>
}

/**
 * ID tokens (OpenID Connect Core, sections 2 and 5.4) are for the client, and good for nothing at the workload. They
 * have no `auth_time`: the person may have been logged in at the provider for long.
 */
export function createIdTokens(options: {
  issuer: string
  keys: () => Promise<SigningKeys>
  lifetimeMs: number
  now: () => number
}): IdTokens {
  return {
    async issue({ subject, clientId, name, email }, scopes, nonce) {
      if (!scopes.includes('openid')) return undefined
      const keys = await options.keys()
      const issuedAt = Math.floor(options.now() / 1000)
      const claims = {
        iss: options.issuer,
        sub: subject,
        aud: clientId,
        exp: issuedAt + Math.floor(options.lifetimeMs / 1000),
        iat: issuedAt,
        ...(nonce === undefined ? {} : { nonce }),
        ...profileClaims({ name, email }, scopes),
      }
      const header = { alg: keys.algorithm, kid: keys.keyId, typ: 'JWT' }
      return new SignJWT(claims).setProtectedHeader(header).sign(keys.privateKey)
    },
  }
}
