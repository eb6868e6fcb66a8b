import { isFailure } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import { toOAuthProblem } from './oauth-problem.ts'

/** The OAuth error code behind a failure of this file; undefined when there is none. */
export const refusalOf = (error: unknown): string | undefined =>
  isFailure(error) && typeof error.details === 'object' && error.details !== null && 'code' in error.details
    ? String(error.details.code)
    : undefined

/**
 * Says what went wrong at an authorization server. The error itself is not kept as the cause: it may hold codes and
 * tokens.
 */
export function toFailure(error: unknown, issuer: string): unknown {
  if (isFailure(error)) return error
  const found = toOAuthProblem(error)
  if (!found) return error
  const details = { issuer, problem: found.problem }
  if (found.kind === 'unreachable') return failures.remote_issuer_unreachable(details)
  if (found.kind === 'invalid') return failures.remote_issuer_invalid(details)
  const coded = { ...details, code: found.code }
  return found.code === 'access_denied'
    ? failures.remote_login_denied(coded)
    : failures.remote_login_failed(coded)
}
