import { isFailure } from '../../src/errors.ts'
import { FetchProblem } from '../../src/net/fetch-problem.ts'
import { guardedFetch } from '../../src/net/guarded-fetch.ts'
import type { BearerChallenge, Discovery, OAuthEngine } from '../auth-out/index.ts'
import { failures } from './failures.ts'
import { toProviderFailure } from './provider-failure.ts'

const DEFAULT_SCOPES = ['openid', 'offline_access']

/** A registry whose users log in, and what is known of that. */
export interface ProviderRequest {
  readonly url: string
  /** Without one the registry is asked (RFC 9728). */
  readonly issuer?: string | undefined
  readonly scopes?: readonly string[] | undefined
  readonly allowPrivate: boolean
  /** Time limit of one response, in milliseconds. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Finds where to log in to a registry. Fails with `login_issuer_needed` where it does not say, else with
 * `issuer_unreachable` or `issuer_invalid`.
 */
export async function findProvider(engine: OAuthEngine, request: ProviderRequest): Promise<Discovery> {
  const { url, issuer, scopes, allowPrivate, timeoutMs, signal } = request
  try {
    if (issuer !== undefined) {
      return await engine.discoverIssuer({ issuer, scopes: scopes ?? DEFAULT_SCOPES }, { timeoutMs, signal })
    }
    const target = url.replace(/\/+$/, '')
    const reach = { target, mustBePublic: !allowPrivate, timeoutMs, signal }
    const found = await engine.discover(
      { settings: {}, challenge: await challengeOf(engine, request) },
      reach,
    )
    return { ...found, scopes: scopes ?? [...new Set([...DEFAULT_SCOPES, ...found.scopes])] }
  } catch (error) {
    if (isFailure(error, 'remote_login_place_unknown') || isFailure(error, 'remote_resource_mismatch')) {
      throw failures.login_issuer_needed({ place: url })
    }
    throw toProviderFailure(error)
  }
}

/** What the registry responds to somebody without a token. */
async function challengeOf(
  engine: OAuthEngine,
  { url, allowPrivate, timeoutMs, signal }: ProviderRequest,
): Promise<BearerChallenge | undefined> {
  try {
    const response = await guardedFetch(`${url.replace(/\/+$/, '')}/v0.1/servers`, {
      headers: { accept: 'application/json' },
      allowPrivate,
      headersOnly: true,
      timeoutMs,
      signal,
    })
    const challenge = engine.readChallenge(response.status, response.joined('www-authenticate'))
    return challenge && { ...challenge, isPrivate: response.isPrivate }
  } catch (error) {
    if (error instanceof FetchProblem) return undefined
    throw error
  }
}
