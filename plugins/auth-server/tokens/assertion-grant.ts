import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Admit } from '../grants/admission.ts'
import { assertedSubject } from '../grants/subject.ts'
import { noRoom, OAuthError } from '../protocol/oauth-error.ts'
import { required } from '../protocol/parameters.ts'
import { hashOf, randomId } from '../protocol/secrets.ts'
import type { Store } from '../storage/store.ts'
import { readAudience } from './audience.ts'
import { tokensOf } from './code-grant.ts'
import { readScopes } from './scopes.ts'
import type { TokenParts } from './token-parts.ts'
import type { GrantHandler } from './token-request.ts'

/** Somebody whose assertions are believed. */
export interface TrustedIssuer {
  readonly issuer: string
  /** The issuer's public keys. Throws JWKSTimeout or another error where they cannot be had now. */
  readonly keys: JWTVerifyGetKey
  readonly admit: Admit
}

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
const LONGEST = 16_384
/** An assertion is for one request; what is valid longer was not made for this. */
const MOST_SECONDS = 3600
const LEEWAY_SECONDS = 30

/**
 * Exchanges a JWT of a trusted issuer for an access token (RFC 7523, section 2.1). Each `jti` is good for one use.
 * There is no refresh token: the client gets a new assertion (RFC 7521, section 4.1).
 */
export function createAssertionGrant(
  parts: TokenParts & {
    issuers: readonly TrustedIssuer[]
    store: Store
    issuer: string
    audiences: readonly string[]
    now: () => number
  },
): GrantHandler {
  const { issuers, store, issuer, audiences, now, grants, clients } = parts
  return async (client, parameters) => {
    const assertion = required(parameters, 'assertion')
    const { trusted, claims } = await verify(assertion, {
      issuers,
      audience: [issuer, `${issuer}/oauth/token`],
      now,
    })
    if (claims.client_id !== undefined && claims.client_id !== client.id)
      throw new OAuthError('invalid_grant', 'The assertion was made for another client.')
    const admission = trusted.admit(claims)
    if (!admission)
      throw new OAuthError('invalid_grant', 'The subject of the assertion may not use this server.')
    const audience = readAudience(parameters, audiences)
    const scopes = readScopes(parameters, client.scopes)
    const { iss, jti, sub, exp } = claims
    const lifetimeMs = (exp + LEEWAY_SECONDS) * 1000 - now()
    const key = hashOf('assertion', iss, jti)
    if (!(await store.add('used', key, '1', lifetimeMs))) {
      if ((await store.get('used', key)) === undefined) throw noRoom('assertions')
      throw new OAuthError('invalid_grant', 'The assertion was used before (jti).')
    }
    await clients.keep(client)
    const granted = {
      clientId: client.id,
      ...{ subject: assertedSubject(iss, sub), issuer: iss, admission },
      name: textOf(claims.name),
      email: textOf(claims.email),
    }
    const grant = await grants.create({
      ...{ ...granted, id: randomId(), scopes, audience, refreshes: false, upstreams: [] },
    })
    return tokensOf(parts, grant, scopes)
  }
}

type Claims = JWTPayload & {
  readonly iss: string
  readonly sub: string
  readonly jti: string
  readonly exp: number
}

async function verify(
  assertion: string,
  { issuers, audience, now }: { issuers: readonly TrustedIssuer[]; audience: string[]; now: () => number },
): Promise<{ trusted: TrustedIssuer; claims: Claims }> {
  const named = assertion.length > LONGEST ? undefined : issuerOf(assertion)
  const trusted = issuers.find(({ issuer }) => issuer === named)
  if (!trusted) throw new OAuthError('invalid_grant', 'The issuer of the assertion is not trusted.')
  const { payload } = await jwtVerify(assertion, trusted.keys, {
    ...{ algorithms: ALGORITHMS, issuer: trusted.issuer, audience, currentDate: new Date(now()) },
    ...{ clockTolerance: LEEWAY_SECONDS, requiredClaims: ['exp', 'sub', 'jti', 'aud'] },
  }).catch(error => {
    if (error instanceof errors.JOSEError)
      throw new OAuthError('invalid_grant', 'The assertion is not valid.')
    throw error
  })
  const { sub, jti, exp = 0 } = payload
  if (typeof sub !== 'string' || sub === '' || typeof jti !== 'string' || jti === '')
    throw new OAuthError('invalid_grant', 'The assertion lacks sub or jti.')
  if (exp - now() / 1000 > MOST_SECONDS)
    throw new OAuthError('invalid_grant', 'The assertion is valid for longer than an hour.')
  return { trusted, claims: { ...payload, iss: trusted.issuer, sub, jti, exp } }
}

/** What the assertion says, unchecked: it chooses the keys that it is checked with. */
function issuerOf(assertion: string): unknown {
  try {
    const value: unknown = JSON.parse(
      Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString('utf8'),
    )
    return typeof value === 'object' && value !== null && 'iss' in value ? value.iss : undefined
  } catch {
    return undefined
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, 256) : undefined
