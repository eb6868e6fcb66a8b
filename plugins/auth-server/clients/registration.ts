import type { IncomingMessage } from 'node:http'
import { noRoom, OAuthError } from '../protocol/oauth-error.ts'
import { readBody } from '../protocol/read-body.ts'
import { jsonReply, type Reply } from '../protocol/reply.ts'
import { randomToken } from '../protocol/secrets.ts'
import type { ServerSettings } from '../settings.ts'
import { hashSecret } from './authenticate-client.ts'
import type { Client } from './client.ts'
import { type AddressOf, createFloodLimit, type FloodLimit } from './flood-limit.ts'
import { readClientMetadata } from './read-registration.ts'
import type { RegisteredClients } from './registered-clients.ts'

/** One address alone fills a small part of the storage before its clients are forgotten (`UNUSED_MS`). */
const RATES = { each: { perSecond: 0.1, burst: 20 }, all: { perSecond: 5, burst: 100 } }

/** Registers clients (RFC 7591). */
export function createRegistration({
  clients,
  settings,
  addressOf,
  now,
}: {
  clients: RegisteredClients
  settings: ServerSettings
  addressOf: AddressOf
  now: () => number
}): (request: IncomingMessage) => Promise<Reply> {
  const limit = createFloodLimit({ ...RATES, addressOf, now })
  return async request => {
    assertNoFlood(limit, request)
    const document = parseObject(await readBody(request, 'application/json'))
    const metadata = readClientMetadata(document, settings)
    const secret = metadata.authMethod === 'none' ? undefined : randomToken()
    const client: Client = {
      ...metadata,
      ...{ id: randomToken(), registeredAt: now(), usedAt: now() },
      secretHash: secret && hashSecret(secret),
    }
    if (!(await clients.add(client))) throw noRoom('registered clients')
    return jsonReply(201, { ...describeClient(client), ...describeSecret(secret) })
  }
}

function assertNoFlood(limit: FloodLimit, request: IncomingMessage): void {
  const seconds = limit(request)
  if (seconds === undefined) return
  throw new OAuthError('temporarily_unavailable', 'Too many clients register at once. Try again later.', {
    status: 429,
    headers: { 'retry-after': String(seconds) },
  })
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Readonly<Record<string, unknown>>
    }
  } catch {
    // below
  }
  throw new OAuthError('invalid_client_metadata', 'The body is not a JSON object.')
}

/** The secret is shown once; it never expires (RFC 7591, section 3.2.1). */
const describeSecret = (secret: string | undefined) =>
  secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 }

/** RFC 7591, section 3.2.1. */
const describeClient = (client: Client) => ({
  client_id: client.id,
  client_id_issued_at: Math.floor(client.registeredAt / 1000),
  ...(client.name === undefined ? {} : { client_name: client.name }),
  redirect_uris: client.redirectUris,
  grant_types: client.grantTypes,
  response_types: ['code'],
  scope: client.scopes.join(' '),
  token_endpoint_auth_method: client.authMethod,
})
