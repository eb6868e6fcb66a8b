import type { TokenResponse } from './request-token.ts'

/** Why there is no token for the server. */
export type ExchangeProblem =
  /** The token of the caller is not accepted: another one may be. */
  | { readonly kind: 'token'; readonly code: string }
  /** The caller may not use the server. */
  | { readonly kind: 'denied'; readonly code: string }
  /** What the user has configured does not work, or the endpoint does not. */
  | { readonly kind: 'broken'; readonly problem: string }
  | { readonly kind: 'away'; readonly problem: string; readonly retrySeconds?: number | undefined }

/**
 * Codes of an exchange that say that the subject token is the reason. `invalid_request` is among them: it also stands
 * for tokens that are not acceptable (RFC 8693, section 2.2.2).
 */
const OF_THE_TOKEN = ['invalid_request', 'invalid_grant', 'invalid_token', 'expired_token', 'login_required']
/** Codes that say that the policy of the server is (RFC 8693, section 2.2.2; RFC 6749, section 4.1.2.1). */
const OF_THE_POLICY = ['invalid_target', 'access_denied', 'insufficient_scope', 'interaction_required']

type Failed = Exclude<TokenResponse, { kind: 'issued' }>

/** What a failed exchange means for the caller. */
export function toExchangeProblem(response: Failed): ExchangeProblem {
  if (response.kind === 'away') return response
  if (response.kind === 'wrong') return { kind: 'broken', problem: response.problem }
  const { code } = response
  if (OF_THE_TOKEN.includes(code)) return { kind: 'token', code }
  return OF_THE_POLICY.includes(code) ? { kind: 'denied', code } : refusedClient(code)
}

/** The same for the server that an ID-JAG was shown to: the grant is new, so its refusal is about who it stands for. */
export function toAssertionProblem(response: Failed): ExchangeProblem {
  if (response.kind === 'refused' && response.code === 'invalid_grant') {
    return { kind: 'denied', code: response.code }
  }
  return response.kind === 'refused' && OF_THE_TOKEN.includes(response.code)
    ? refusedClient(response.code)
    : toExchangeProblem(response)
}

/** For requests in which only our own part can be wrong, such as client credentials. */
export const toOwnProblem = (response: Failed): ExchangeProblem =>
  response.kind === 'refused' ? refusedClient(response.code) : toExchangeProblem(response)

const refusedClient = (code: string): ExchangeProblem => ({
  kind: 'broken',
  problem: `it refuses the request with ${code}`,
})
