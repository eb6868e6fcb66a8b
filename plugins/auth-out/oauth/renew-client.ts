import { parseObject } from '../../../src/lib/parse-object.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { failures } from '../failures.ts'
import { CALLBACK_PATH, DEFAULT_CALLBACK_PORT } from './client-metadata.ts'
import { type Endpoints, sendToEndpoint } from './oauth-fetch.ts'
import { describeRefusal, readRegistration, registrationMetadata } from './register-client.ts'
import type { ClientIdentity, Discovery } from './types.ts'

const EARLY_MS = 24 * 3600_000

/**
 * Renews the secret of a registered client within a day of its end (RFC 7592 section 2.2). Returns the client
 * unchanged when that is not needed or does not work yet; fails with `remote_client_expired` once it has expired.
 */
export async function renewClient(
  { client, discovery }: { readonly client: ClientIdentity; readonly discovery: Discovery },
  endpoints: Endpoints,
  clock: () => number,
): Promise<ClientIdentity> {
  const { secretExpiresAt: end, issuer } = client
  if (end === undefined || end - clock() > EARLY_MS) return client
  const renewed =
    issuer === discovery.issuer ? await renew(client, discovery, endpoints) : 'it is of another issuer'
  if (typeof renewed !== 'string') return renewed
  if (end > clock()) return client
  throw failures.remote_client_expired({ issuer, problem: renewed })
}

async function renew(
  client: ClientIdentity,
  discovery: Discovery,
  endpoints: Endpoints,
): Promise<ClientIdentity | string> {
  const { registration, clientId, clientSecret, callbackPort: port = DEFAULT_CALLBACK_PORT } = client
  const { callbackPath: path = CALLBACK_PATH } = client
  if (!registration) return 'its registration cannot be changed'
  const { uri, accessToken } = registration
  try {
    const response = await sendToEndpoint(
      uri,
      {
        method: 'PUT',
        headers: {
          authorization: `Bearer ${accessToken}`,
          'content-type': 'application/json',
          accept: 'application/json',
        },
        body: JSON.stringify({
          ...registrationMetadata({ discovery, port, path, scopes: discovery.scopes }),
          client_id: clientId,
          client_secret: clientSecret,
          token_endpoint_auth_method: client.authMethod,
        }),
      },
      endpoints,
    )
    const value = parseObject(response.body.toString('utf8'))
    if (response.status !== 200 || !value) return describeRefusal(response.status, value)
    const renewed = readRegistration(
      { ...value, client_id: value.client_id ?? clientId },
      { discovery, port, path },
    )
    if (renewed?.clientId !== clientId) return 'its response cannot be used'
    return { ...renewed, registration: renewed.registration ?? registration }
  } catch (error) {
    if (error instanceof FetchProblem) return error.message
    throw error
  }
}
