import type { IncomingMessage } from 'node:http'
import { authenticateClient } from '../clients/authenticate-client.ts'
import type { FindClient } from '../clients/client.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import { readParameters, required } from '../protocol/parameters.ts'
import { readBody } from '../protocol/read-body.ts'
import { jsonReply, type Reply } from '../protocol/reply.ts'
import type { ReadOwnToken } from './own-token.ts'
import type { TokenParts } from './token-parts.ts'

/**
 * Tells clients that have a secret whether an access token is valid (RFC 7662). A refresh token is never active here:
 * nobody but its client has a use for it.
 */
export function createIntrospection({
  find,
  clients,
  readOwnToken,
}: Pick<TokenParts, 'clients'> & { find: FindClient; readOwnToken: ReadOwnToken }): (
  request: IncomingMessage,
) => Promise<Reply> {
  return async request => {
    const parameters = readParameters(await readBody(request, 'application/x-www-form-urlencoded'))
    const client = await authenticateClient(find, parameters, request)
    if (client.secretHash === undefined)
      throw new OAuthError('invalid_client', 'Only clients with a secret may ask about tokens.', {
        status: 401,
      })
    const found = await readOwnToken(required(parameters, 'token'))
    if (!found) return jsonReply(200, { active: false })
    await clients.keep(client)
    const { tsid: _, ...claims } = found.claims
    return jsonReply(200, { active: true, token_type: 'Bearer', ...claims })
  }
}
