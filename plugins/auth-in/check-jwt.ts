import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Caller } from '../../src/contracts/caller-auth.ts'
import { isFailure } from '../../src/errors.ts'
import { failures } from './failures.ts'

/** Signatures with a public key alone: `none` has no signature, and HS256 could be made with a public key. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512']

/** Whether a token has the form of a JWT (RFC 7519); what it says is another matter. */
export function isJwt(token: string): boolean {
  const [header = '', payload, signature, ...more] = token.split('.')
  if (payload === undefined || signature === undefined || more.length > 0) return false
  try {
    const value: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && 'alg' in value
  } catch {
    return false
  }
}

/** Checks JWTs by the keys of their issuer. Fails with `token_invalid`, or `auth_unavailable` without keys. */
export function createJwtCheck(options: {
  keys: JWTVerifyGetKey
  issuer: string | undefined
  audience: string
  now: () => number
}): (token: string) => Promise<Caller> {
  const { keys, issuer, audience, now } = options
  return async token => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'sub'],
        currentDate: new Date(now()),
        ...(issuer === undefined ? {} : { issuer }),
        audience,
      })
      const subject: unknown = payload.sub // a claim may be anything
      if (typeof subject !== 'string' || subject === '') {
        throw failures.token_invalid({ problem: 'it says nothing of whom it is for (sub)' })
      }
      return { subject, claims: payload }
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
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong'
  return 'it cannot be read'
}
