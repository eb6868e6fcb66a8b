import { returnPage } from '../pages/problem-page.ts'
import type { OAuthError } from '../protocol/oauth-error.ts'
import { type Reply, redirectReply } from '../protocol/reply.ts'
import type { ReturnAddress } from './authorization-request.ts'
import { errorUrl } from './authorization-response.ts'

/**
 * Tells a client what went wrong (RFC 6749, section 4.1.2.1): a program on this computer at once, all others when the
 * person chooses to go there. Anybody can register an address, and would lead people to it through us by a login that
 * must fail (RFC 9700, section 4.11.2).
 */
export function sendError(
  address: ReturnAddress,
  error: OAuthError,
  {
    issuer,
    what,
    headers = {},
  }: { issuer: string; what: string; headers?: Readonly<Record<string, string>> },
): Reply {
  const url = errorUrl(address, issuer, error)
  const isLocal = new URL(address.redirectUri).protocol === 'http:'
  return isLocal ? redirectReply(url, headers) : returnPage(error.status, { what, url }, headers)
}
