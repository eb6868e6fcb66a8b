import type { IncomingMessage } from 'node:http'
import { authenticateClient } from '../clients/authenticate-client.ts'
import type { FindClient } from '../clients/client.ts'
import type { Grants } from '../grants/grants.ts'
import { findIssued } from '../grants/refresh-token.ts'
import type { HmacSecrets } from '../keys/hmac-secrets.ts'
import { readParameters, required } from '../protocol/parameters.ts'
import { readBody } from '../protocol/read-body.ts'
import { emptyReply, type Reply } from '../protocol/reply.ts'
import type { ReadOwnToken } from './own-token.ts'

/**
 * Ends the grant behind a refresh or an access token of the client (RFC 7009). Tokens that are not valid, or belong to
 * another client, change nothing, and the response is the same (section 2.2).
 */
export function createRevocation(parts: {
  find: FindClient
  grants: Grants
  secrets: HmacSecrets
  readOwnToken: ReadOwnToken
}): (request: IncomingMessage) => Promise<Reply> {
  const { find, grants, secrets, readOwnToken } = parts
  return async request => {
    const parameters = readParameters(await readBody(request, 'application/x-www-form-urlencoded'))
    const client = await authenticateClient(find, parameters, request)
    const token = required(parameters, 'token')
    const { grant } = (await findIssued(token, grants, secrets)) ?? (await readOwnToken(token)) ?? {}
    if (grant?.clientId === client.id) await grants.revoke(grant.id, grant.upstreams)
    return emptyReply(200)
  }
}
