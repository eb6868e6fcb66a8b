import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client'
import { Failure, messageOf } from '../../../src/errors.ts'
import { FetchProblem } from '../../../src/net/guarded-fetch.ts'
import { failures } from '../failures.ts'

/** The OAuth error code (RFC 6749, section 5.2) of a response of the token endpoint. */
export const oauthCodeOf = (error: unknown): string | undefined =>
  error instanceof ResponseBodyError ? error.error : undefined

/**
 * Says what went wrong at an identity provider. The error itself is not kept as the cause: it may hold
 * codes and tokens.
 */
export function toFailure(error: unknown, issuer: string): Error {
  if (error instanceof Failure) return error
  const problem = causesOf(error).find(cause => cause instanceof FetchProblem)
  if (problem) return failures.issuer_unreachable({ issuer, problem: problem.message })
  if (error instanceof AuthorizationResponseError) {
    const said = describe(error.error, error.error_description)
    return error.error === 'access_denied'
      ? failures.login_denied({ issuer, problem: said })
      : failures.login_failed({ issuer, problem: said })
  }
  if (error instanceof ResponseBodyError) {
    const said = describe(error.error, error.error_description)
    return error.status >= 500 || error.status === 429
      ? failures.issuer_unreachable({ issuer, problem: `it responded with ${error.status} (${said})` })
      : failures.login_failed({ issuer, problem: said })
  }
  const response = causesOf(error).find(cause => cause instanceof Response)
  if (response) {
    const { status } = response
    return status >= 500 || status === 429
      ? failures.issuer_unreachable({ issuer, problem: `it responded with ${status}` })
      : failures.issuer_invalid({ issuer, problem: `it responded with ${status}` })
  }
  if (error instanceof ClientError || error instanceof TypeError) {
    const inner = causesOf(error).find(cause => cause instanceof Error && cause !== error)
    return failures.issuer_invalid({ issuer, problem: messageOf(inner ?? error) })
  }
  return error instanceof Error ? error : new Error(String(error))
}

/** What the provider says of itself is for people, one line of it. */
const describe = (code: string, description: string | undefined): string =>
  (description ? `${description.replace(/\.$/, '')} (${code})` : code).replace(/\p{Cc}+/gu, ' ').slice(0, 300)

function causesOf(error: unknown): unknown[] {
  const found: unknown[] = []
  for (let cause = error; cause !== undefined && cause !== null && found.length < 10; ) {
    found.push(cause)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return found
}
