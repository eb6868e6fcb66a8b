import { refreshTokenGrant } from 'openid-client'
import { isFailure } from '../../../src/errors.ts'
import { openSession, resourceParameter } from './configuration.ts'
import { requestTokens } from './machine-login.ts'
import { toOAuthProblem } from './oauth-problem.ts'
import { toTokenSet } from './token-set.ts'
import type { Reach, RefreshRequest, RefreshResult, TokenSet } from './types.ts'

/**
 * Renews tokens (RFC 6749 section 6), the resource among the parameters (RFC 8707 section 2.2). A server that cannot be
 * asked, or does not respond in OAuth, says nothing about the login: that is transient.
 */
export async function refresh(
  request: RefreshRequest,
  reach: Reach,
  clock: () => number,
): Promise<RefreshResult> {
  const { discovery, client, tokens, asMachine } = request
  if (client.issuer !== discovery.issuer) {
    return { kind: 'permanent', code: 'issuer_changed', problem: `the login was at ${client.issuer}` }
  }
  if (!asMachine && tokens.refreshToken === undefined) {
    return { kind: 'permanent', code: 'no_refresh_token', problem: 'there is no refresh token' }
  }
  try {
    const renewed = asMachine
      ? (await requestTokens(request, reach, clock)).tokens
      : await byRefreshToken(request, tokens.refreshToken ?? '', reach, clock)
    return { kind: 'renewed', tokens: renewed }
  } catch (error) {
    reach.signal?.throwIfAborted()
    if (isFailure(error)) return { kind: 'permanent', code: error.code, problem: error.message }
    const found = toOAuthProblem(error)
    if (!found) throw error
    return found.kind === 'refused'
      ? { kind: 'permanent', code: found.code, problem: found.problem }
      : {
          kind: 'transient',
          problem: found.problem,
          retryAfterMs: found.kind === 'unreachable' ? found.retryAfterMs : undefined,
        }
  }
}

async function byRefreshToken(
  request: RefreshRequest,
  refreshToken: string,
  reach: Reach,
  clock: () => number,
): Promise<TokenSet> {
  const { discovery, tokens } = request
  const { config, idToken } = await openSession(request, reach)
  const response = await refreshTokenGrant(config, refreshToken, { ...resourceParameter(discovery) })
  return toTokenSet(response, { clock, scopes: tokens.scopes, refreshToken, idToken: idToken() })
}
