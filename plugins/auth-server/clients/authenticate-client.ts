import type { IncomingMessage } from 'node:http'
import { OAuthError } from '../protocol/oauth-error.ts'
import type { Parameters } from '../protocol/parameters.ts'
import { hashOf, isSame } from '../protocol/secrets.ts'
import type { Client, FindClient } from './client.ts'

interface Credentials {
  readonly id: string
  readonly secret?: string | undefined
  readonly method: Client['authMethod']
}

export const hashSecret = (secret: string): string => hashOf('client-secret', secret)

/**
 * Finds out which client asks (RFC 6749, section 2.3). A client authenticates in the one way that it registered with.
 * Fails with `invalid_client`.
 */
export async function authenticateClient(
  find: FindClient,
  parameters: Parameters,
  request: IncomingMessage,
): Promise<Client> {
  const { authorization } = request.headers
  const given = readCredentials(parameters, authorization)
  const client = await find(given.id, request)
  if (!client) throw refused('There is no such client. Register again.', authorization)
  if (client.authMethod !== given.method)
    throw refused(
      `The client authenticates with ${client.authMethod}, not with ${given.method}.`,
      authorization,
    )
  if (client.secretHash === undefined) return client
  if (given.secret !== undefined && isSame(hashSecret(given.secret), client.secretHash)) return client
  throw refused('The client secret is wrong.', authorization)
}

function readCredentials(parameters: Parameters, authorization: string | undefined): Credentials {
  const id = parameters.get('client_id')
  const secret = parameters.get('client_secret')
  if (authorization === undefined) {
    if (id === undefined) throw refused('The parameter client_id is missing.', authorization)
    return secret === undefined ? { id, method: 'none' } : { id, secret, method: 'client_secret_post' }
  }
  const basic = readBasic(authorization)
  if (!basic) throw refused('The header Authorization cannot be read.', authorization)
  if (secret !== undefined || (id !== undefined && id !== basic.id))
    throw new OAuthError('invalid_request', 'The client authenticates in two ways at once.')
  return { ...basic, method: 'client_secret_basic' }
}

/** The parts are form-encoded before they are joined (RFC 6749, section 2.3.1). */
function readBasic(authorization: string): { id: string; secret: string } | undefined {
  const [, encoded = ''] = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization) ?? []
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  if (!id || secret === undefined) return undefined
  try {
    return { id: formDecoded(id), secret: formDecoded(secret) }
  } catch {
    return undefined
  }
}

const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

const refused = (description: string, authorization: string | undefined): OAuthError =>
  new OAuthError('invalid_client', description, {
    status: 401,
    // RFC 6749, section 5.2.
    headers: authorization === undefined ? {} : { 'www-authenticate': 'Basic realm="oauth"' },
  })
