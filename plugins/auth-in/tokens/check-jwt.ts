import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import { isFailure } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import { LEEWAY_SECONDS } from './leeway.ts'
import { readJwt } from './read-jwt.ts'
import { toCaller } from './to-caller.ts'

/**
 * Signatures with a public key alone (RFC 8725, section 3.1): `none` has no signature, and HS256 could be made with a
 * public key.
 */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
/** Checks JWTs by the keys of their issuer. Fails with `token_invalid`, or `auth_unavailable` without keys. */
export function createJwtCheck(options: {
  keys: JWTVerifyGetKey
  issuer: string | undefined
  audience: string
  /** Refuses tokens that do not say that they are access tokens (RFC 9068, section 4). */
  accessTokensOnly: boolean
  now: () => number
}): (token: string) => Promise<Caller> {
  const { keys, issuer, audience, accessTokensOnly, now } = options
  return async token => {
    readJwt(token, { accessTokensOnly })
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'sub'],
        currentDate: new Date(now()),
        clockTolerance: LEEWAY_SECONDS,
        ...(issuer === undefined ? {} : { issuer }),
        audience,
      })
      return toCaller(payload, { subject: payload.sub, issuer })
    } catch (error) {
      // Besides its own errors, jose throws what the platform has against a key that does not fit.
      if (isFailure(error)) throw error
      throw failures.token_invalid({ problem: problemOf(error) }, { cause: error })
    }
  }
}

function problemOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'it has expired'
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.reason === 'missing'
      ? `it lacks the claim "${error.claim}"`
      : `its claim "${error.claim}" is not what is expected`
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not allowed'
  if (error instanceof errors.JWKSNoMatchingKey) return 'its key is not one of the issuer'
  if (error instanceof errors.JWKSMultipleMatchingKeys) return 'it does not name one key of the issuer (kid)'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong'
  return 'it cannot be read'
}
