import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { messageOf } from '../../../src/errors.ts'
import { withinTime } from '../../../src/lib/within-time.ts'
import { listenForCallback } from '../../../src/login/callback.ts'
import { failures } from '../failures.ts'
import { discoverIssuer, registerClient } from './issuer.ts'
import { toFailure } from './oauth-failure.ts'
import type { Reach } from './oauth-fetch.ts'
import { type Tokens, toTokens } from './oauth-tokens.ts'

/** A login that a person is to make in a browser. */
export interface SignInRequest {
  readonly issuer: string
  /** Undefined: the provider is asked for a client of our own. */
  readonly clientId?: string | undefined
  readonly scopes: readonly string[]
  /** For providers that want to hear who the tokens are for in a parameter of this name. */
  readonly audience?: string | undefined
  /** The same, as RFC 8707 has it. */
  readonly resource?: string | undefined
  /** Where the browser comes back to; 0 is any. */
  readonly port: number
  /** How long the person may take. */
  readonly waitMs: number
  /** Shows the address to the user. */
  readonly show: (url: string) => void | Promise<void>
  readonly reach: Reach
  readonly clock: () => number
}

/**
 * Logs in with an authorization code, PKCE (RFC 7636, S256), state, nonce and issuer (RFC 9207) checked.
 * Nothing is stored here.
 */
export async function signIn(request: SignInRequest): Promise<{ tokens: Tokens; clientId: string }> {
  const { issuer, scopes, reach } = request
  const { signal } = reach
  const state = randomState()
  const callback = await listenForCallback({
    port: request.port,
    state,
    refuse: failures.login_port_taken,
  })
  const { redirectUri } = callback
  try {
    const config =
      request.clientId === undefined
        ? await registerClient(issuer, { redirectUri, scopes }, reach)
        : await discoverIssuer(issuer, request.clientId, reach)
    const verifier = randomPKCECodeVerifier()
    const nonce = scopes.includes('openid') ? randomNonce() : undefined
    const url = buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      state,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(scopes.length ? { scope: scopes.join(' ') } : {}),
      ...(nonce ? { nonce } : {}),
      // Without it a provider ignores the request for refresh tokens (OpenID Connect Core, section 11).
      ...(scopes.includes('offline_access') ? { prompt: 'consent' } : {}),
      ...(request.audience ? { audience: request.audience } : {}),
      ...(request.resource ? { resource: request.resource } : {}),
    })
    await request.show(url.href)
    const arrived = await withinTime(callback.arrived, {
      ms: request.waitMs,
      late: () => failures.login_timeout({ issuer, seconds: request.waitMs / 1000 }),
      signal,
    })
    const tokens = await redeem(config, arrived, { ...request, verifier, state, nonce })
    callback.finish()
    return { tokens, clientId: config.clientMetadata().client_id }
  } catch (error) {
    const failure = signal?.aborted ? error : toFailure(error, issuer)
    callback.finish(messageOf(failure))
    throw failure
  } finally {
    await callback.close()
  }
}

async function redeem(
  config: Configuration,
  arrived: URL,
  {
    verifier,
    state,
    nonce,
    resource,
    clock,
  }: SignInRequest & { verifier: string; state: string; nonce: string | undefined },
): Promise<Tokens> {
  const answer = await authorizationCodeGrant(
    config,
    arrived,
    { pkceCodeVerifier: verifier, expectedState: state, ...(nonce ? { expectedNonce: nonce } : {}) },
    resource ? { resource } : {},
  )
  return toTokens(answer, { clock, resource })
}
