import { AuthorizationResponseError, ResponseBodyError } from 'openid-client'
import { messageOf } from '../../../src/errors.ts'
import { clean } from '../../../src/lib/printable.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'

/** What went wrong at an authorization server. The texts hold no codes, tokens or secrets. */
export type OAuthProblem =
  /** It could not be asked, or was not itself (5xx, 429). */
  | { readonly kind: 'unreachable'; readonly problem: string; readonly retryAfterMs?: number | undefined }
  /** It refused, with an OAuth error code. `by` tells the page that a person saw from the token endpoint. */
  | {
      readonly kind: 'refused'
      readonly code: string
      readonly problem: string
      readonly by: 'person' | 'server'
    }
  /** It responded with something that is not OAuth. */
  | { readonly kind: 'invalid'; readonly problem: string }

/** Codes for troubles of the server's own (RFC 6749 section 4.1.2.1). */
const PASSING = ['server_error', 'temporarily_unavailable', 'slow_down']

/** No server may keep us from asking again for longer. */
const LONGEST_RETRY_MS = 3600_000

/** Sorts an error of openid-client or of a request. Undefined for errors that are none of theirs. */
export function toOAuthProblem(error: unknown): OAuthProblem | undefined {
  const causes = causesOf(error)
  const network = causes.find(cause => cause instanceof FetchProblem)
  if (network) return { kind: 'unreachable', problem: network.message }
  if (error instanceof AuthorizationResponseError) {
    return refused(error.error, error.error_description, 'person')
  }
  if (error instanceof ResponseBodyError) {
    const isPassing = error.status >= 500 || error.status === 429 || PASSING.includes(error.error)
    return isPassing ? unreachable(error.response) : refused(error.error, error.error_description, 'server')
  }
  const response = causes.find(cause => cause instanceof Response)
  if (response) {
    return response.status >= 500 || response.status === 429
      ? unreachable(response)
      : { kind: 'invalid', problem: `it responds with ${response.status}, and no OAuth error` }
  }
  if (!(error instanceof Error) || !('code' in error) || !/^(OAUTH|ERR)_/.test(String(error.code))) return
  if (error.code === 'OAUTH_TIMEOUT') return { kind: 'unreachable', problem: 'it did not respond in time' }
  const inner = causes.find(cause => cause instanceof Error && cause !== error)
  return { kind: 'invalid', problem: clean(messageOf(inner ?? error)).slice(0, 300) }
}

function refused(code: string, description: string | undefined, by: 'person' | 'server'): OAuthProblem {
  const said = description ? `${description.replace(/\.\s*$/, '')} (${code})` : code
  return { kind: 'refused', code: clean(code).slice(0, 100), problem: clean(said).slice(0, 300), by }
}

function unreachable({ status, headers }: Response): OAuthProblem {
  return {
    kind: 'unreachable',
    problem: `it responds with ${status}`,
    retryAfterMs: readRetryAfter(headers.get('retry-after')),
  }
}

/** Seconds or a date (RFC 9110 section 10.2.3), in milliseconds from now, at most an hour; undefined for what is neither. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_RETRY_MS)
}

function causesOf(error: unknown): unknown[] {
  const found: unknown[] = []
  for (let cause = error; cause != null && found.length < 10; ) {
    found.push(cause)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return found
}
