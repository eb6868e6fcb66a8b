import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose'
import type { Grant } from '../grants/grant.ts'
import type { Grants } from '../grants/grants.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'

/** An access token of this server that is valid now. */
export interface OwnToken {
  readonly claims: JWTPayload
  readonly grant: Grant
}

/** Returns what an access token of this server says; undefined: it is not one, has expired, or its grant has ended. */
export type ReadOwnToken = (token: string) => Promise<OwnToken | undefined>

const LONGEST = 16_384

export function createReadOwnToken(options: {
  issuer: string
  keys: () => Promise<SigningKeys>
  grants: Grants
  now: () => number
}): ReadOwnToken {
  const { issuer, keys, grants, now } = options
  return async token => {
    if (token.length > LONGEST || token.split('.').length !== 3) return undefined
    const { algorithms, published } = await keys()
    const checked = await jwtVerify(token, createLocalJWKSet({ keys: [...published.keys] }), {
      ...{ issuer, typ: 'at+jwt', algorithms: [...algorithms], currentDate: new Date(now()) },
      requiredClaims: ['exp', 'sub', 'aud', 'client_id', 'scope', 'tsid'],
    }).catch(() => undefined)
    if (!checked) return undefined
    const { tsid, sub } = checked.payload
    const grant = typeof tsid === 'string' ? await grants.find(tsid) : undefined
    return grant && grant.subject === sub ? { claims: checked.payload, grant } : undefined
  }
}
