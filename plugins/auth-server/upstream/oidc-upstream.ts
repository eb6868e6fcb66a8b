import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  refreshTokenGrant,
} from 'openid-client'
import { createSingleFlight } from '../../../src/lib/single-flight.ts'
import { failures } from './failures.ts'
import { identify } from './oidc-identity.ts'
import { toUpstreamFailure } from './oidc-problem.ts'
import type { ProviderFetch } from './provider-fetch.ts'
import { readTokens } from './token-response.ts'
import type { Upstream } from './upstream.ts'
import type { OidcConfig } from './upstream-config.ts'

const USUAL_SCOPES = ['openid', 'profile', 'email']

/** How long the provider's metadata is used before it is read again. */
const METADATA_MS = 3600_000
const RESPONSE_SECONDS = 11

/** An OpenID provider, found by its issuer (OpenID Connect Discovery). ID tokens are checked with its keys. */
export function createOidcUpstream(
  config: OidcConfig,
  parts: {
    readonly name: string
    readonly fetch: ProviderFetch
    readonly secret: string | undefined
    readonly now: () => number
  },
): Upstream {
  const { name, fetch, now } = parts
  // A provider that is asked for a recent login has to prove it (OpenID Connect Core, section 3.1.2.1).
  const { max_age: maxAge } = config.additional_authorization_params ?? {}
  const flight = createSingleFlight<Configuration>()
  let known: { readonly provider: Configuration; readonly until: number } | undefined

  /** Works with the provider; what openid-client throws becomes a failure. */
  async function withProvider<T>(work: (provider: Configuration) => Promise<T>): Promise<T> {
    try {
      if (!known || known.until <= now()) {
        const provider = await flight.run('', () => discover(config, parts))
        known = { provider, until: now() + METADATA_MS }
      }
      return await work(known.provider)
    } catch (error) {
      throw toUpstreamFailure(name, error)
    }
  }

  return {
    name,
    id: `${name} ${config.issuer_url}`,
    authorizationUrl: ({ redirectUri, state }) =>
      withProvider(async provider => {
        const [verifier, nonce] = [randomPKCECodeVerifier(), randomNonce()]
        const scopes = new Set(['openid', ...(config.scopes?.length ? config.scopes : USUAL_SCOPES)])
        // Without it a provider ignores the wish for refresh tokens (OpenID Connect Core, section 11).
        const prompt = scopes.has('offline_access') ? { prompt: 'consent' } : {}
        const url = buildAuthorizationUrl(provider, {
          ...prompt,
          ...config.additional_authorization_params,
          scope: [...scopes].join(' '),
          redirect_uri: config.redirect_uri || redirectUri,
          state,
          nonce,
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        })
        return { url: url.href, checks: { verifier, nonce } }
      }),
    finish: ({ callback, redirectUri, checks: { verifier = '', nonce = '' }, signal }) =>
      withProvider(async provider => {
        const current = new URL(config.redirect_uri || redirectUri)
        current.search = callback.search
        const response = await authorizationCodeGrant(provider, current, {
          pkceCodeVerifier: verifier,
          expectedNonce: nonce,
          expectedState: callback.searchParams.get('state') ?? '', // whose login it is was found by it
          idTokenExpected: true,
          ...(maxAge === undefined ? {} : { maxAge: Number(maxAge) }),
        })
        const tokens = readTokens(response, { now: now() })
        const claims = response.claims()
        if (!tokens || !claims) {
          throw failures.upstream_login_failed({ name, problem: 'it responds without a token' })
        }
        const { userinfo_endpoint: endpoint } = provider.serverMetadata()
        const { accessToken } = tokens
        const identity = await identify(config, { name, fetch, claims, endpoint, accessToken, signal })
        return { ...identity, tokens }
      }),
    refresh: before =>
      withProvider(async provider => {
        const { refreshToken } = before
        if (refreshToken === undefined) {
          throw failures.upstream_login_failed({ name, problem: 'there is no refresh token' })
        }
        const tokens = readTokens(await refreshTokenGrant(provider, refreshToken), { before, now: now() })
        if (tokens) return tokens
        throw failures.upstream_login_failed({ name, problem: 'it responds without a token' })
      }),
  }
}

async function discover(
  config: OidcConfig,
  { fetch, secret }: { readonly fetch: ProviderFetch; readonly secret: string | undefined },
): Promise<Configuration> {
  const provider = await discovery(
    new URL(config.issuer_url),
    config.client_id ?? '',
    {},
    authenticate(secret),
    {
      [customFetch]: toCustomFetch(fetch),
      // Which addresses may be plain http is judged by the fetch.
      execute: [allowInsecureRequests, enableNonRepudiationChecks],
      timeout: RESPONSE_SECONDS,
    },
  )
  return provider
}

/** RFC 6749, section 2.3.1, with parameters where the provider does not know Basic. */
function authenticate(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None()
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)]
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: known = ['client_secret_basic'] } = server
    return (known.includes('client_secret_basic') ? basic : post)(server, ...rest)
  }
}

const toCustomFetch =
  (fetch: ProviderFetch): CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const response = await fetch(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: { ...headers },
      ...(body == null ? {} : { body: String(body) }),
      signal: signal ?? undefined,
    })
    const isEmpty = response.status === 204 || response.status === 304 // such a Response takes no body
    const type = response.header('content-type')
    return new Response(isEmpty ? null : response.body, {
      status: response.status,
      headers: type === undefined ? {} : { 'content-type': type },
    })
  }
