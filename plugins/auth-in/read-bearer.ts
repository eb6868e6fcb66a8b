import { failures } from './failures.ts'

/** The scheme and the token, which is a `b64token` (RFC 6750, section 2.1). */
const BEARER = /^bearer +([a-z0-9._~+/-]+=*) *$/i
const LONGEST = 16_384

/** The token of an `Authorization` header. Fails with `token_missing` when there is none that can be read. */
export function readBearer(authorization: string | undefined): string {
  if (authorization === undefined) throw failures.token_missing({ problem: 'A bearer token is needed.' })
  if (authorization.length > LONGEST) {
    throw failures.token_missing({
      problem: `The Authorization header is longer than ${LONGEST} characters.`,
    })
  }
  const token = BEARER.exec(authorization)?.[1]
  if (token !== undefined) return token
  throw failures.token_missing({ problem: 'The Authorization header is not of the form "Bearer TOKEN".' })
}
