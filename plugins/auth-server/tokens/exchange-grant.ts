import type { JWTPayload } from 'jose'
import { OAuthError } from '../protocol/oauth-error.ts'
import { type Parameters, required } from '../protocol/parameters.ts'
import { findAudience } from './audience.ts'
import type { OwnToken, ReadOwnToken } from './own-token.ts'
import { readScopes } from './scopes.ts'
import type { TokenParts } from './token-parts.ts'
import type { GrantHandler } from './token-request.ts'

export const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token'
const TOKEN_TYPES: readonly string[] = [ACCESS_TOKEN_TYPE, 'urn:ietf:params:oauth:token-type:jwt']
const MOST_ACTORS = 10

/**
 * Exchanges an access token of this server for one that may do less (RFC 8693): the same audience, scopes that the
 * first has, and no longer life. The client stands in it as the actor.
 */
export const createExchangeGrant =
  ({
    readOwnToken,
    accessTokens,
    clients,
  }: Pick<TokenParts, 'accessTokens' | 'clients'> & { readOwnToken: ReadOwnToken }): GrantHandler =>
  async (client, parameters) => {
    assertType(parameters, 'subject_token_type')
    const wanted = parameters.get('requested_token_type') ?? ACCESS_TOKEN_TYPE
    if (!TOKEN_TYPES.includes(wanted))
      throw new OAuthError('invalid_request', 'requested_token_type must be that of access tokens.')
    const { claims, grant } = await readToken(
      readOwnToken,
      required(parameters, 'subject_token'),
      'subject_token',
    )
    for (const name of ['resource', 'audience']) {
      const value = parameters.get(name)
      if (value !== undefined) findAudience(value, [String(claims.aud)])
    }
    const scopes = readScopes(parameters, String(claims.scope).split(' ').filter(Boolean))
    const actor = chainOf(claims, await readActor(readOwnToken, parameters, client.id))
    await clients.keep(client)
    const { token, expiresInSeconds } = await accessTokens.issue({
      ...{ subject: grant.subject, name: grant.name, email: grant.email, grantId: grant.id },
      ...{ clientId: client.id, audience: String(claims.aud), scopes, expiresAt: claims.exp },
      actor,
    })
    return {
      access_token: token,
      issued_token_type: ACCESS_TOKEN_TYPE,
      token_type: 'Bearer',
      expires_in: expiresInSeconds,
      scope: scopes.join(' '),
    }
  }

/** Who acts: the subject of the actor token, which must be the client's own; without one the client itself. */
async function readActor(read: ReadOwnToken, parameters: Parameters, clientId: string): Promise<string> {
  const token = parameters.get('actor_token')
  if (token === undefined) {
    if (parameters.has('actor_token_type'))
      throw new OAuthError('invalid_request', 'There is an actor_token_type without an actor_token.')
    return clientId
  }
  assertType(parameters, 'actor_token_type')
  const { claims } = await readToken(read, token, 'actor_token')
  if (claims.client_id !== clientId)
    throw new OAuthError('invalid_request', 'actor_token was issued to another client.')
  return String(claims.sub)
}

/** RFC 8693, section 4.1: who acted before stands inside. */
function chainOf({ act }: JWTPayload, actor: string): Readonly<Record<string, unknown>> {
  let depth = 1
  for (let at = act; typeof at === 'object' && at !== null && 'act' in at; at = at.act) depth++
  if (depth >= MOST_ACTORS)
    throw new OAuthError('invalid_request', `The token was passed on more than ${MOST_ACTORS} times.`)
  return { sub: actor, ...(act === undefined ? {} : { act }) }
}

function assertType(parameters: Parameters, name: string): void {
  if (!TOKEN_TYPES.includes(required(parameters, name)))
    throw new OAuthError('invalid_request', `${name} must be that of access tokens.`)
}

async function readToken(read: ReadOwnToken, token: string, name: string): Promise<OwnToken> {
  const found = await read(token)
  if (found) return found
  // RFC 8693, section 2.2.2.
  throw new OAuthError('invalid_request', `${name} is not a valid access token of this server.`)
}
