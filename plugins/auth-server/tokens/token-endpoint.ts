import type { IncomingMessage } from 'node:http'
import { authenticateClient } from '../clients/authenticate-client.ts'
import type { FindClient } from '../clients/client.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import { quotable, readParameters, required } from '../protocol/parameters.ts'
import { readBody } from '../protocol/read-body.ts'
import { jsonReply, type Reply } from '../protocol/reply.ts'
import type { GrantHandler } from './token-request.ts'

/** The token endpoint (RFC 6749, section 3.2). */
export function createTokenEndpoint(
  find: FindClient,
  handlers: ReadonlyMap<string, GrantHandler>,
): (request: IncomingMessage) => Promise<Reply> {
  return async request => {
    const parameters = readParameters(await readBody(request, 'application/x-www-form-urlencoded'))
    const type = required(parameters, 'grant_type')
    const handler = handlers.get(type)
    if (!handler) throw new OAuthError('unsupported_grant_type', `There is no grant ${quotable(type)} here.`)
    const client = await authenticateClient(find, parameters, request)
    if (!client.grantTypes.includes(type))
      throw new OAuthError('unauthorized_client', `The client is not registered for ${quotable(type)}.`)
    return jsonReply(200, await handler(client, parameters))
  }
}
