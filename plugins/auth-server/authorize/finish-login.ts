import type { IncomingMessage } from 'node:http'
import { looksAsserted } from '../grants/subject.ts'
import { problemPage } from '../pages/problem-page.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import { readParameters } from '../protocol/parameters.ts'
import { type Reply, redirectReply } from '../protocol/reply.ts'
import { randomToken } from '../protocol/secrets.ts'
import type { ServerSettings } from '../settings.ts'
import type { Upstream, UpstreamLogin } from '../upstream/upstream.ts'
import { redirectUriOf, toOAuthError, toUpstream } from './begin-login.ts'
import { cookieOf, forgetCookie } from './browser-binding.ts'
import type { LoginParts } from './login-parts.ts'
import type { PendingLogin, Person } from './pending-logins.ts'
import { sendCode } from './send-code.ts'
import { sendError } from './send-error.ts'

/** Responds to a person who comes back from the upstream provider with this index (RFC 6749, section 4.1.2). */
export async function finishLogin(
  parts: LoginParts,
  request: IncomingMessage,
  { index, signal }: { index: number; signal: AbortSignal },
): Promise<Reply> {
  const { settings, upstreams } = parts
  const callback = new URL(redirectUriOf(settings, upstreams, index))
  callback.search = /\?(.*)$/s.exec(request.url ?? '')?.[1] ?? ''
  const id = readParameters(callback.search.slice(1)).get('state')
  const taken = id === undefined ? undefined : await takeLogin(parts, request, { id, index })
  if (id === undefined || !taken) return noSuchLogin()
  try {
    return await goOn(parts, { id, taken, callback, signal })
  } catch (error) {
    const told = toOAuthError(error)
    if (!(told instanceof OAuthError)) throw error
    const headers = { 'set-cookie': forgetCookie(taken.browser) }
    return sendError(taken.request, told, { issuer: settings.issuer, what: told.message, headers })
  }
}

/** Returns the login that this browser has begun, if it waits for this provider. */
async function takeLogin(
  { pending, cookies }: LoginParts,
  request: IncomingMessage,
  { id, index }: { id: string; index: number },
): Promise<PendingLogin | undefined> {
  const begun = await cookies.find(request, id)
  if (begun) return begun.upstream === index ? begun : undefined
  const found = await pending.find(id)
  if (found?.step !== 'login' || found.upstream !== index || cookieOf(request, found.browser) === undefined)
    return undefined
  const taken = await pending.take(id)
  return taken?.step === 'login' ? taken : undefined
}

async function goOn(
  parts: LoginParts,
  { id, taken, callback, signal }: { id: string; taken: PendingLogin; callback: URL; signal: AbortSignal },
): Promise<Reply> {
  const { settings, upstreams, consents, pending } = parts
  const upstream = upstreams[taken.upstream]
  if (!upstream) throw new OAuthError('server_error', 'The identity provider is not configured any more.')
  const redirectUri = redirectUriOf(settings, upstreams, taken.upstream)
  const login = await upstream.finish({ callback, redirectUri, checks: taken.checks, signal })
  if (!(await pending.finish(id))) return noSuchLogin()
  const { request, browser } = taken
  const person = taken.person ?? toPerson(login, upstream, settings)
  const upstreamTokens = { ...taken.upstreamTokens, [upstream.id]: login.tokens }
  const state = { request, browser, person, upstreamTokens }
  if (taken.upstream + 1 < upstreams.length) {
    const next = randomToken()
    const { login, url } = await toUpstream(
      parts,
      { ...state, upstream: taken.upstream + 1 },
      { id: next, signal },
    )
    await pending.add(login, next)
    return redirectReply(url)
  }
  if (!request.asksAgain && (await consents.covers(person, request))) return sendCode(parts, state)
  const consent = await pending.add({ ...state, step: 'consent' })
  return redirectReply(`${settings.pageBase}/oauth/consent?request=${consent}`)
}

/** Fails with `access_denied` where the person may not log in. */
function toPerson(
  { subject, name, email, claims }: UpstreamLogin,
  { id: issuer }: Upstream,
  { admit }: ServerSettings,
): Person {
  const admission = admit(claims)
  if (!admission || looksAsserted(subject))
    throw new OAuthError('access_denied', 'This account may not use this server.')
  return { subject, issuer, admission, name, email }
}

/** Who follows a link that another person was sent must not log in for them. */
export const noSuchLogin = (): Reply =>
  problemPage(400, {
    what: 'This login has ended, was begun in another browser, or this browser keeps no cookies.',
    todo: 'Start the login again in the program that you came from, and go through it in one browser. If somebody sent you this link, close the page.',
  })
