import type { IncomingMessage } from 'node:http'
import { isFailure } from '../../../src/errors.ts'
import { problemPage, START_AGAIN } from '../pages/problem-page.ts'
import { OAuthError } from '../protocol/oauth-error.ts'
import { readParameters } from '../protocol/parameters.ts'
import { type Reply, redirectReply } from '../protocol/reply.ts'
import { randomToken } from '../protocol/secrets.ts'
import type { ServerSettings } from '../settings.ts'
import { findSender, type ReturnAddress, readAuthorizationRequest } from './authorization-request.ts'
import { callbackPath } from './callback-path.ts'
import type { LoginParts } from './login-parts.ts'
import type { PendingLogin } from './pending-logins.ts'
import { sendError } from './send-error.ts'

/** Responds to an authorization request (RFC 6749, section 3.1) by sending the person to an upstream provider. */
export async function beginLogin(
  parts: LoginParts,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<Reply> {
  const query = /\?(.*)$/s.exec(request.url ?? '')?.[1] ?? ''
  let address: ReturnAddress | undefined
  try {
    const parameters = readParameters(query)
    const sender = await findSender(parts.find, parameters, request)
    address = sender.address
    const asked = readAuthorizationRequest(parameters, sender, parts.settings)
    const id = randomToken()
    const { binding, keep } = parts.cookies.begin(id)
    const state = { request: asked, browser: binding, upstreamTokens: {}, upstream: 0 }
    const { login, url } = await toUpstream(parts, state, { id, signal })
    return redirectReply(url, { 'set-cookie': await keep(login) })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    if (address === undefined) return problemPage(error.status, { what: error.message, todo: START_AGAIN })
    const what = `The program that sent you here asked in a way that is not allowed: ${error.message}`
    return sendError(address, error, { issuer: parts.settings.issuer, what })
  }
}

/** Returns where the person logs in at an upstream provider, and what has to be known when they come back. */
export async function toUpstream(
  { upstreams, settings }: LoginParts,
  state: Omit<PendingLogin, 'step' | 'checks'>,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<{ login: PendingLogin; url: string }> {
  const upstream = upstreams[state.upstream]
  if (!upstream) throw new Error(`there is no upstream provider ${state.upstream}`)
  const redirectUri = redirectUriOf(settings, upstreams, state.upstream)
  const { url, checks } = await upstream
    .authorizationUrl({ redirectUri, state: id, signal })
    .catch(error => Promise.reject(toOAuthError(error)))
  return { login: { ...state, step: 'login', checks }, url }
}

/** Returns where people come back to from the upstream provider with this index. */
export const redirectUriOf = (
  { pageBase }: Pick<ServerSettings, 'pageBase'>,
  upstreams: readonly { readonly name: string }[],
  index: number,
): string => `${pageBase}${callbackPath(index, upstreams[index]?.name ?? '')}`

/** What a client is told when the provider fails; its own words are for the log. */
export function toOAuthError(error: unknown): unknown {
  if (isFailure(error, 'upstream_unavailable'))
    return new OAuthError('temporarily_unavailable', 'The identity provider cannot be reached now.', {
      status: 503,
    })
  if (isFailure(error, 'upstream_login_failed'))
    return new OAuthError('access_denied', 'The login at the identity provider did not succeed.')
  return error
}
