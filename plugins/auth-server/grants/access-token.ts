import { SignJWT } from 'jose'
import type { SigningKeys } from '../keys/signing-keys.ts'
import { randomId } from '../protocol/secrets.ts'
import { profileClaims } from './profile-claims.ts'

/** What an access token says besides when it was issued. */
export interface AccessTokenContent {
  readonly subject: string
  readonly clientId: string
  readonly audience: string
  readonly scopes: readonly string[]
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly grantId: string
  /** In seconds since 1970; undefined: the usual lifespan. */
  readonly expiresAt?: number | undefined
  /** Who acts for the subject (RFC 8693, section 4.1). */
  readonly actor?: Readonly<Record<string, unknown>> | undefined
}

/** Issues access tokens. */
export interface AccessTokens {
  issue(content: AccessTokenContent): Promise<{ token: string; expiresInSeconds: number }>
}

/** Access tokens are JWTs (RFC 9068). `tsid` names the grant that they belong to. */
export function createAccessTokens(options: {
  issuer: string
  keys: () => Promise<SigningKeys>
  lifetimeMs: number
  now: () => number
}): AccessTokens {
  const { issuer, lifetimeMs, now } = options
  return {
    async issue({ expiresAt = Number.POSITIVE_INFINITY, ...content }) {
      const keys = await options.keys()
      const issuedAt = Math.floor(now() / 1000)
      const end = Math.min(expiresAt, issuedAt + Math.floor(lifetimeMs / 1000))
      const claims = {
        iss: issuer,
        sub: content.subject,
        aud: content.audience,
        exp: end,
        iat: issuedAt,
        jti: randomId(),
        client_id: content.clientId,
        scope: content.scopes.join(' '),
        ...profileClaims(content, content.scopes),
        ...(content.actor === undefined ? {} : { act: content.actor }),
        tsid: content.grantId,
      }
      const header = { alg: keys.algorithm, kid: keys.keyId, typ: 'at+jwt' }
      const token = await new SignJWT(claims).setProtectedHeader(header).sign(keys.privateKey)
      return { token, expiresInSeconds: end - issuedAt }
    },
  }
}
