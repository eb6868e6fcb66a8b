import type { Exchange } from '../../src/contracts/pipeline.ts'
import { sendOwnResponse } from './own-response.ts'

/**
 * Responds to a caller whose token gives no access to the server, with an error of RFC 6750, section 3.1, and a
 * description. Neither may hold quotes, backslashes or what is not ASCII. 401 invites another login, with the place
 * where one is found (RFC 9728, section 5.1); 403 does not.
 */
export function refuseToken(
  exchange: Exchange,
  status: 401 | 403,
  { error, description }: { error: string; description: string },
): void {
  const url = exchange.resourceMetadata?.urlFor(exchange.request.headers.host)
  const place = url === undefined ? '' : `resource_metadata="${url}", `
  const challenge = `Bearer ${place}error="${error}", error_description="${description}"`
  sendOwnResponse(exchange, {
    status,
    contentType: 'application/json',
    body: Buffer.from(`${JSON.stringify({ error, error_description: description })}\n`),
    headers: status === 401 ? { 'www-authenticate': challenge } : {},
  })
}
