import { type Reply, redirectReply } from '../protocol/reply.ts'
import { randomId } from '../protocol/secrets.ts'
import { codeUrl } from './authorization-response.ts'
import { forgetCookie } from './browser-binding.ts'
import type { LoginParts } from './login-parts.ts'
import type { PendingConsent } from './pending-logins.ts'

/** Issues the code that the person has agreed to, and sends them back to the client with it. */
export async function sendCode(
  { codes, settings }: LoginParts,
  { request, person, browser, upstreamTokens }: Omit<PendingConsent, 'step'>,
): Promise<Reply> {
  const { clientId, scopes, audience, refreshes, redirectUri, challenge, nonce } = request
  const upstreams = Object.keys(upstreamTokens)
  const code = await codes.issue({
    granted: { id: randomId(), clientId, ...person, scopes, audience, refreshes, upstreams },
    ...{ redirectUri, challenge, nonce, upstreamTokens },
  })
  const headers = { 'set-cookie': forgetCookie(browser) }
  return redirectReply(codeUrl(request, settings.issuer, code), headers)
}
