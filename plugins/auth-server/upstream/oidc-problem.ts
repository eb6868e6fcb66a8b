import { AuthorizationResponseError, ResponseBodyError } from 'openid-client'
import { messageOf } from '../../../src/errors.ts'
import { clean } from '../../../src/lib/printable.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { failures } from './failures.ts'

/** Codes for troubles of the provider's own (RFC 6749, section 4.1.2.1). */
const PASSING = ['server_error', 'temporarily_unavailable', 'slow_down']

/** Turns an error of openid-client into a failure; others are returned as they are. No text holds codes or tokens. */
export function toUpstreamFailure(name: string, error: unknown): unknown {
  const unavailable = (problem: string) => failures.upstream_unavailable({ name, problem }, { cause: error })
  const failed = (problem: string) =>
    failures.upstream_login_failed({ name, problem: clean(problem).slice(0, 300) }, { cause: error })
  const causes = causesOf(error)
  const network = causes.find(cause => cause instanceof FetchProblem)
  if (network) return unavailable(network.message)
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const { error: code, error_description: text } = error
    const isDown = error instanceof ResponseBodyError && (error.status >= 500 || error.status === 429)
    const said = clean(text ? `${text.replace(/\.\s*$/, '')} (${code})` : code).slice(0, 300)
    return isDown || PASSING.includes(code) ? unavailable(said) : failed(said)
  }
  const response = causes.find(cause => cause instanceof Response)
  if (response) {
    const problem = `it responds with ${response.status}, and no OAuth error`
    return response.status >= 500 || response.status === 429 ? unavailable(problem) : failed(problem)
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'OAUTH_TIMEOUT') return unavailable('it does not respond in time')
  return /^(OAUTH|ERR)_/.test(code) ? failed(messageOf(causes[1] ?? error)) : error
}

function causesOf(error: unknown): unknown[] {
  const found: unknown[] = []
  for (let cause = error; cause != null && found.length < 10; ) {
    found.push(cause)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return found
}
