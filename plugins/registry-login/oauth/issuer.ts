import {
  allowInsecureRequests,
  type Configuration,
  customFetch,
  type DiscoveryRequestOptions,
  discovery,
  dynamicClientRegistration,
  None,
} from 'openid-client'
import { isFailure } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import { toFailure } from './oauth-failure.ts'
import { isSafeEndpoint, oauthFetch, type Reach } from './oauth-fetch.ts'

/** The two places of a provider's metadata: OpenID Connect Discovery, then RFC 8414. */
const ALGORITHMS = ['oidc', 'oauth2'] as const

/**
 * Reads what an identity provider says of itself. The document's `issuer` must be the one asked for.
 * Fails with `issuer_unreachable` or `issuer_invalid`.
 */
export async function discoverIssuer(issuer: string, clientId: string, reach: Reach): Promise<Configuration> {
  const config = await eitherWay(issuer, reach, options =>
    discovery(new URL(issuer), clientId, undefined, None(), options),
  )
  return checked(config, issuer)
}

/**
 * Asks for a client of our own (RFC 7591), a public one, since everybody can read what a program contains.
 * Fails with `login_client_needed` where the provider does not register clients.
 */
export async function registerClient(
  issuer: string,
  { redirectUri, scopes }: { redirectUri: string; scopes: readonly string[] },
  reach: Reach,
): Promise<Configuration> {
  const refused = (problem: string) => failures.login_client_needed({ issuer, problem })
  const found = await discoverIssuer(issuer, 'none yet', reach)
  if (!found.serverMetadata().registration_endpoint) throw refused('it has no registration of clients')
  const wanted = {
    client_name: 'keelson',
    redirect_uris: [redirectUri],
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    ...(scopes.length ? { scope: scopes.join(' ') } : {}),
  }
  const config = await eitherWay(issuer, reach, options =>
    dynamicClientRegistration(new URL(issuer), wanted, None(), options),
  ).catch(error => {
    if (isFailure(error, 'login_failed')) throw refused(error.message)
    throw error
  })
  const method = config.clientMetadata().token_endpoint_auth_method
  if (method !== undefined && method !== 'none') throw refused('it insists on a client with a secret')
  return checked(config, issuer)
}

async function eitherWay(
  issuer: string,
  reach: Reach,
  ask: (options: DiscoveryRequestOptions) => Promise<Configuration>,
): Promise<Configuration> {
  let first: Error | undefined
  for (const algorithm of ALGORITHMS) {
    try {
      return await ask({
        algorithm,
        [customFetch]: oauthFetch(reach),
        execute: [allowInsecureRequests], // which addresses may be plain http is judged by the fetch
        timeout: reach.timeoutMs / 1000,
      })
    } catch (error) {
      reach.signal?.throwIfAborted()
      first ??= toFailure(error, issuer)
      if (!isFailure(first, 'issuer_invalid')) throw first
    }
  }
  throw first
}

/** The endpoints must be there and safe: a person's browser is sent to one, tokens come from the other. */
function checked(config: Configuration, issuer: string): Configuration {
  const server = config.serverMetadata()
  const { code_challenge_methods_supported: methods } = server
  const problem = !isSafeEndpoint(server.authorization_endpoint)
    ? 'it names no authorization endpoint that is https'
    : !isSafeEndpoint(server.token_endpoint)
      ? 'it names no token endpoint that is https'
      : methods && !methods.includes('S256')
        ? 'it does not know PKCE with S256'
        : undefined
  if (problem) throw failures.issuer_invalid({ issuer, problem })
  return config
}
