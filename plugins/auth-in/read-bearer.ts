import { failures } from './failures.ts'

/** RFC 6750, section 2.1: `b64token`. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/
const LONGEST = 16_384

/** The token of an `Authorization` header. Fails with `token_missing` when there is none that can be read. */
export function readBearer(authorization: string | undefined): string {
  if (authorization === undefined) throw failures.token_missing({ problem: 'A bearer token is needed.' })
  if (authorization.length > LONGEST) {
    throw failures.token_missing({
      problem: `The Authorization header is longer than ${LONGEST} characters.`,
    })
  }
  const [, token = ''] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
  if (TOKEN.test(token)) return token
  throw failures.token_missing({ problem: 'The Authorization header is not of the form "Bearer TOKEN".' })
}
