import { parseObject } from '../../../src/lib/parse-object.ts'
import { clean } from '../../../src/lib/printable.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { failures } from '../failures.ts'
import { methodForSecret, methodToRegister, readMethod } from './auth-method.ts'
import { CALLBACK_PATH, clientMetadata, redirectUriOf } from './client-metadata.ts'
import { toEndTime } from './end-time.ts'
import { type Endpoints, sendToEndpoint } from './oauth-fetch.ts'
import { toSafeUrl } from './safe-url.ts'
import type { ClientIdentity, Discovery } from './types.ts'

/** What is asked of a registration endpoint. */
export interface Registration {
  readonly discovery: Discovery
  readonly port: number
  /** Of the redirect URI. */
  readonly path: string
  readonly scopes: readonly string[]
}

/** A member of a registration request: the metadata of this client at this server. */
export function registrationMetadata({
  discovery,
  port,
  path,
  scopes,
}: Registration): Record<string, unknown> {
  const { server } = discovery
  return {
    ...clientMetadata({ redirectUris: [redirectUriOf(port, path)], grants: server.grant_types_supported }),
    token_endpoint_auth_method: methodToRegister(server),
    ...(scopes.length ? { scope: scopes.join(' ') } : {}),
  }
}

/**
 * Asks for a client of our own (RFC 7591). A server that refuses the scopes is asked once more without them: some know
 * only their own, not those of a resource. Fails with `remote_client_needed` where nobody gets one just so.
 */
export async function registerClient(
  registration: Registration,
  endpoints: Endpoints,
): Promise<ClientIdentity> {
  const { issuer } = registration.discovery
  let { status, value } = await post(registration, endpoints)
  if (status === 400 && registration.scopes.length) {
    const again = await post({ ...registration, scopes: [] }, endpoints)
    if (again.status < 300) ({ status, value } = again)
  }
  const needed = (problem: string) => failures.remote_client_needed({ issuer, problem })
  if (status !== 201 && status !== 200) throw needed(describeRefusal(status, value))
  const client = value && readRegistration(value, registration)
  if (!client) throw needed('its response to the registration cannot be used')
  return client
}

async function post(
  registration: Registration,
  endpoints: Endpoints,
): Promise<{ status: number; value: Record<string, unknown> | undefined }> {
  const { issuer, server } = registration.discovery
  const unreachable = (problem: string) => failures.remote_issuer_unreachable({ issuer, problem })
  try {
    const { status, body } = await sendToEndpoint(
      server.registration_endpoint ?? '',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(registrationMetadata(registration)),
      },
      endpoints,
    )
    if (status >= 500 || status === 429) throw unreachable(`its registration responds with ${status}`)
    return { status, value: parseObject(body.toString('utf8')) }
  } catch (error) {
    throw error instanceof FetchProblem ? unreachable(error.message) : error
  }
}

/** Reads a registration response (RFC 7591 section 3.2.1). Undefined for one that cannot be used. */
export function readRegistration(
  value: Readonly<Record<string, unknown>>,
  { discovery, port, path }: Pick<Registration, 'discovery' | 'port' | 'path'>,
): ClientIdentity | undefined {
  const { issuer, server } = discovery
  const { client_id: clientId, client_secret: secret, client_secret_expires_at: end } = value
  if (typeof clientId !== 'string' || !clientId) return undefined
  const clientSecret = typeof secret === 'string' && secret ? secret : undefined
  const fallback = clientSecret === undefined ? 'none' : methodForSecret(server)
  const authMethod = readMethod(value.token_endpoint_auth_method, fallback)
  if (!authMethod || (authMethod !== 'none' && clientSecret === undefined)) return undefined
  return {
    kind: 'registered',
    issuer,
    clientId,
    ...(authMethod === 'none' ? {} : { clientSecret }),
    authMethod,
    secretExpiresAt: typeof end === 'number' && end > 0 ? toEndTime(end * 1000) : undefined,
    registration: readManagement(value, server.registration_endpoint),
    callbackPort: port,
    ...(path === CALLBACK_PATH ? {} : { callbackPath: path }),
  }
}

/** The token for changes goes to the origin of the registration endpoint only (RFC 7592 section 3). */
function readManagement(
  { registration_client_uri: uri, registration_access_token: token }: Readonly<Record<string, unknown>>,
  endpoint: string | undefined,
): ClientIdentity['registration'] {
  const url = typeof uri === 'string' ? toSafeUrl(uri) : undefined
  if (!url || typeof token !== 'string' || url.origin !== URL.parse(endpoint ?? '')?.origin) return undefined
  return { uri: url.href, accessToken: token }
}

/** What an endpoint says of a refusal (RFC 7591 section 3.2.2), on one line. */
export function describeRefusal(
  status: number,
  value: Readonly<Record<string, unknown>> | undefined,
): string {
  const said = [value?.error_description, value?.error].find(text => typeof text === 'string')
  return clean(`its registration responds with ${status}${said ? `: ${said}` : ''}`)
    .replace(/\.\s*$/, '')
    .slice(0, 300)
}
