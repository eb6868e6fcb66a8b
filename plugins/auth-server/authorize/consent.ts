import type { IncomingMessage } from 'node:http'
import { consentPage } from '../pages/consent-page.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import { readParameters } from '../protocol/parameters.ts'
import { readBody } from '../protocol/read-body.ts'
import type { Reply } from '../protocol/reply.ts'
import { hashOf, isSame } from '../protocol/secrets.ts'
import { cookieOf, forgetCookie } from './browser-binding.ts'
import { noSuchLogin } from './finish-login.ts'
import type { LoginParts } from './login-parts.ts'
import { sendCode } from './send-code.ts'
import { sendError } from './send-error.ts'

const DAY = 86_400_000

/** A proof that the form came from the page that this browser was shown. */
const formToken = (cookie: string, id: string): string => hashOf('consent-form', cookie, id)

/** Shows what the client wants. */
export async function askForConsent(
  { pending, settings }: LoginParts,
  request: IncomingMessage,
): Promise<Reply> {
  const id = readParameters(/\?(.*)$/s.exec(request.url ?? '')?.[1] ?? '').get('request')
  const found = id === undefined ? undefined : await pending.find(id)
  if (id === undefined || found?.step !== 'consent') return noSuchLogin()
  const cookie = cookieOf(request, found.browser)
  if (cookie === undefined) return noSuchLogin()
  const { clientId, clientName, redirectUri, scopes, audience, refreshes } = found.request
  const { subject, name, email } = found.person
  const person = email === undefined ? (name ?? subject) : `${name ?? subject} (${email})`
  const days = refreshes ? Math.ceil(settings.refreshTokenMs / DAY) : undefined
  const question = { clientId, clientName, redirectUri, scopes, audience, person, days }
  return consentPage(
    { ...question, request: id, token: formToken(cookie, id) },
    `${settings.pageBase}/oauth/consent`,
  )
}

/** Takes the decision of the person. It counts once, and only from the browser that logged in. */
export async function takeConsent(parts: LoginParts, request: IncomingMessage): Promise<Reply> {
  const { pending, consents, settings } = parts
  const form = readParameters(await readBody(request, 'application/x-www-form-urlencoded'))
  const [id, token, decision] = ['request', 'token', 'decision'].map(name => form.get(name) ?? '')
  const found = id ? await pending.find(id) : undefined
  if (!id || found?.step !== 'consent') return noSuchLogin()
  const cookie = cookieOf(request, found.browser)
  if (cookie === undefined || !isSame(token ?? '', formToken(cookie, id))) return noSuchLogin()
  if (decision !== 'allow' && decision !== 'refuse')
    throw new OAuthError('invalid_request', 'The form says neither "allow" nor "refuse".')
  const taken = await pending.take(id)
  if (taken?.step !== 'consent') return noSuchLogin()
  if (decision === 'refuse') {
    const refused = new OAuthError('access_denied', 'The person refused.')
    const headers = { 'set-cookie': forgetCookie(taken.browser) }
    return sendError(taken.request, refused, { issuer: settings.issuer, what: 'You refused.', headers })
  }
  await consents.remember(taken.person, taken.request)
  return sendCode(parts, taken)
}
