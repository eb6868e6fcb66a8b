import { createHash } from 'node:crypto'
import type { Store } from '../storage/store.ts'
import { readSecret } from './client-secret.ts'
import { failures } from './failures.ts'
import type { UpstreamClient } from './oauth2-upstream.ts'
import { fetchObject, type ProviderFetch } from './provider-fetch.ts'
import type { RegistrationConfig } from './upstream-config.ts'

/** How long a registration is kept whose secret does not expire. */
const YEAR_MS = 365 * 24 * 3600_000

interface Parts {
  readonly name: string
  readonly fetch: ProviderFetch
  readonly store: Store
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => number
}

/**
 * Registers a client at the provider (RFC 7591) when it is needed first. It is kept in the store, because refresh
 * tokens belong to it; replicas share it. Fails with `upstream_unavailable`, `upstream_login_failed` and as
 * `readSecret` does.
 */
export function createUpstreamRegistration(config: RegistrationConfig, parts: Parts) {
  const { store, redirectUri, now } = parts
  const place = config.registration_endpoint || config.discovery_url || ''
  const key = createHash('sha256')
    .update(JSON.stringify(['registration', parts.name, place, redirectUri]))
    .digest('base64url')

  const known = async (): Promise<UpstreamClient | undefined> => {
    const value = await store.get('upstream', key)
    return value === undefined ? undefined : (JSON.parse(value) as UpstreamClient)
  }

  return async (signal: AbortSignal): Promise<UpstreamClient> => {
    const found = await known()
    if (found) return found
    const { client, expiresAt } = await register(config, parts, signal)
    const lifetimeMs = expiresAt === undefined ? YEAR_MS : expiresAt - now()
    if (await store.add('upstream', key, JSON.stringify(client), lifetimeMs)) return client
    return (await known()) ?? client // another replica was faster
  }
}

async function register(config: RegistrationConfig, parts: Parts, signal: AbortSignal) {
  const { name, fetch, redirectUri, scopes } = parts
  const url =
    config.registration_endpoint || (await discoverEndpoint(config.discovery_url ?? '', parts, signal))
  const token = await readSecret(
    { file: config.initial_access_token_file, variable: config.initial_access_token_env_var },
    parts,
  )
  const body = JSON.stringify({
    client_name: 'keelson',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_basic',
    ...(scopes.length ? { scope: scopes.join(' ') } : {}),
    ...(config.software_id ? { software_id: config.software_id } : {}),
    ...(config.software_statement ? { software_statement: config.software_statement } : {}),
  })
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const { status, value } = await fetchObject(fetch, url, { name, method: 'POST', headers, body, signal })
  const { client_id: id, client_secret: secret, client_secret_expires_at: ends } = value
  if (status >= 300 || typeof id !== 'string' || !id) {
    const problem = `it does not register a client (${status})`
    throw failures.upstream_login_failed({ name, problem })
  }
  const client: UpstreamClient = { id, ...(typeof secret === 'string' && secret ? { secret } : {}) }
  return { client, expiresAt: typeof ends === 'number' && ends > 0 ? ends * 1000 : undefined }
}

/** Reads the registration endpoint out of the provider's metadata (RFC 8414, section 2). */
async function discoverEndpoint(url: string, { name, fetch }: Parts, signal: AbortSignal): Promise<string> {
  const { status, value } = await fetchObject(fetch, url, { name, signal })
  const { registration_endpoint: endpoint } = value
  if (status === 200 && typeof endpoint === 'string' && URL.canParse(endpoint)) return endpoint
  throw failures.upstream_unavailable({
    name,
    problem: `${new URL(url).host} names no registration_endpoint`,
  })
}
