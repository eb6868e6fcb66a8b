import {
  authorizationCodeGrant,
  calculatePKCECodeChallenge,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { messageOf } from '../../../src/errors.ts'
import { withinTime } from '../../../src/lib/within-time.ts'
import { type Callback, listenForCallback } from '../../../src/login/callback.ts'
import { failures } from '../failures.ts'
import { authorizationUrl } from './authorization-url.ts'
import { openSession, resourceParameter } from './configuration.ts'
import { readPastedRedirect } from './pasted-redirect.ts'
import { assertPublicName } from './public-name.ts'
import { toFailure } from './to-failure.ts'
import { toTokenSet } from './token-set.ts'
import type { ClientIdentity, LoginRequest, LoginResult, Person, Reach, TokenSet } from './types.ts'

/** A port to come back to, and who we are there. */
export interface CodeFlow extends LoginRequest {
  /** 0 takes any. */
  readonly port: number
  /** Another port does where the wanted one is taken. */
  readonly anyPort: boolean
  /** Of the redirect URI. */
  readonly path: string
  readonly scopes: readonly string[]
  /** Called with the port that the browser will come back to. */
  readonly identify: (port: number) => Promise<ClientIdentity>
  /** Logs in another way when no browser could be started; undefined when that does not work either. */
  readonly withoutBrowser?: ((client: ClientIdentity) => Promise<LoginResult | undefined>) | undefined
}

/**
 * Logs in with an authorization code (RFC 6749 section 4.1) and PKCE (RFC 7636, S256). `state` and the issuer of the
 * response (RFC 9207) are checked before the code is used. Nothing is stored here.
 */
export async function loginByCode(flow: CodeFlow, reach: Reach, clock: () => number): Promise<LoginResult> {
  const { discovery, person, scopes, settings } = flow
  const { issuer } = discovery
  const state = randomState()
  const callback = await listen(flow, state)
  try {
    const client = await flow.identify(Number(new URL(callback.redirectUri).port))
    await assertPublicName(discovery, discovery.server.authorization_endpoint)
    const verifier = randomPKCECodeVerifier()
    const challenge = await calculatePKCECodeChallenge(verifier)
    const { redirectUri } = callback
    const url = authorizationUrl({ discovery, client, settings, scopes, redirectUri, state, challenge })
    const opened = (await person.openBrowser?.(url)) ?? false
    const otherwise = opened ? undefined : await flow.withoutBrowser?.(client)
    if (otherwise) return otherwise
    await person.show({ kind: 'browser', url, opened })
    const ask = opened ? undefined : person.askForRedirect
    const arrived = await waitForPerson(callback, state, { ...flow, ask }, reach)
    const tokens = await redeem(arrived, { ...flow, client, verifier, state }, reach, clock)
    callback.finish()
    return { tokens, client }
  } catch (error) {
    const failure = reach.signal?.aborted ? reach.signal.reason : toFailure(error, issuer)
    callback.finish(messageOf(failure))
    throw failure
  } finally {
    await callback.close()
  }
}

async function listen({ port, anyPort, path }: CodeFlow, state: string): Promise<Callback> {
  const options = { path, state, refuse: failures.remote_login_port_taken }
  const listening = listenForCallback({ ...options, port })
  return anyPort ? listening.catch(() => listenForCallback({ ...options, port: 0 })) : listening
}

/** Waits for the browser, and, where none was opened, at a terminal for the URL it ended at; the first that comes. */
async function waitForPerson(
  callback: Callback,
  state: string,
  { ask, waitMs, discovery }: CodeFlow & { ask: Person['askForRedirect'] },
  reach: Reach,
): Promise<URL> {
  const stop = new AbortController()
  const signal = reach.signal ? AbortSignal.any([reach.signal, stop.signal]) : stop.signal
  const pasted = ask ? askUntilRight(ask, { redirectUri: callback.redirectUri, state }, signal) : undefined
  // The browser may still come back after the terminal is gone.
  const either = pasted ? Promise.any([callback.arrived, pasted]) : callback.arrived
  try {
    return await withinTime(either, {
      ms: waitMs,
      late: () =>
        failures.remote_login_timeout({ issuer: discovery.issuer, seconds: Math.round(waitMs / 1000) }),
      signal: reach.signal,
    })
  } finally {
    stop.abort()
  }
}

async function askUntilRight(
  ask: NonNullable<Person['askForRedirect']>,
  login: { redirectUri: string; state: string },
  signal: AbortSignal,
): Promise<URL> {
  let problem: string | undefined
  for (;;) {
    const found = readPastedRedirect(await ask(signal, problem), login)
    if (found instanceof URL) return found
    signal.throwIfAborted()
    problem = found.problem
  }
}

async function redeem(
  arrived: URL,
  flow: CodeFlow & { client: ClientIdentity; verifier: string; state: string },
  reach: Reach,
  clock: () => number,
): Promise<TokenSet> {
  const { discovery, scopes, verifier, state } = flow
  // Without metadata nobody knows the issuer to compare with.
  if (discovery.found === 'none') arrived.searchParams.delete('iss')
  const { config, idToken } = await openSession(flow, reach)
  const response = await authorizationCodeGrant(
    config,
    arrived,
    { pkceCodeVerifier: verifier, expectedState: state },
    { ...resourceParameter(discovery) },
  )
  return toTokenSet(response, { clock, scopes, idToken: idToken() })
}
