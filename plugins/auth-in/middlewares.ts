import type { App } from '../../src/app.ts'
import type { CallerAuth } from '../../src/contracts/caller-auth.ts'
import type { Exchange, Middleware, MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import { sendOwnResponse } from '../proxy/index.ts'
import { keepCallerToken } from './caller-token.ts'
import { corsHeaders, exposeToPage, isPreflight, sendPreflight } from './cross-origin.ts'
import { describeLogin } from './describe-login.ts'
import { endWithToken } from './end-with-token.ts'
import { isMetadataPath } from './resource-metadata.ts'
import { LEEWAY_SECONDS } from './tokens/leeway.ts'

const LEEWAY_MS = LEEWAY_SECONDS * 1000

/** Serves the document that says where callers log in (RFC 9728). */
export const resourceMetadataMiddleware =
  (app: App): MiddlewareFactory =>
  async (config, listener, { log }) => {
    const auth = await (await app.service('callerAuths')).ofWorkload(config, listener, log)
    return auth && createResourceMetadata(auth)
  }

/** Accepts requests whose bearer token is valid. */
export const authenticateMiddleware =
  (app: App): MiddlewareFactory =>
  async (config, listener, { log }) => {
    const auth = await (await app.service('callerAuths')).ofWorkload(config, listener, log)
    return auth && { ...createAuthenticate(auth), summary: describeLogin(config) }
  }

/**
 * The token is taken out of the request: it was issued for this proxy, and the server must not get it (MCP,
 * authorization, token passthrough).
 */
export const createAuthenticate = (auth: CallerAuth, { leewayMs = LEEWAY_MS } = {}): Middleware => ({
  name: 'authenticate',
  stage: 'authenticate',
  wrap: next => async exchange => {
    // A browser sends it without credentials, before each request of a page.
    if (isPreflight(exchange)) return sendPreflight(exchange, 'GET, POST, DELETE, OPTIONS')
    const authorization = authorizationOf(exchange)
    const outcome = await auth.admit(authorization, exchange.request.headers.host)
    exposeToPage(exchange)
    if ('caller' in outcome) {
      exchange.caller = outcome.caller
      exchange.resourceMetadata = auth.metadata
      endWithToken(exchange, outcome.caller, leewayMs)
      keepCallerToken(exchange, outcome.token)
      exchange.setHeader('authorization', undefined)
      return next(exchange)
    }
    const { 'content-type': contentType = 'application/json', ...headers } = outcome.refusal.headers
    const { status, body } = outcome.refusal
    sendOwnResponse(exchange, { status, contentType, body: Buffer.from(body), headers })
  },
})

const originsOf = (metadata: CallerAuth['metadata']): string[] => {
  const url = URL.parse(metadata?.resource ?? '')
  return url ? [url.origin] : []
}

/** All of them: Node drops every header of this name but the first, and another server may read another one. */
function authorizationOf({ request: { rawHeaders } }: Exchange): string | undefined {
  const values = rawHeaders.filter(
    (_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'authorization',
  )
  return values.length ? values.join(', ') : undefined
}

export const createResourceMetadata = ({ metadata }: CallerAuth): Middleware => ({
  name: 'resource-metadata',
  stage: 'well-known',
  origins: originsOf(metadata),
  wrap: next => exchange => {
    const { method = '' } = exchange.request
    if (!metadata || !isMetadataPath(exchange.url.split('?', 1)[0] ?? '')) return next(exchange)
    if (method === 'OPTIONS') return sendPreflight(exchange, 'GET, OPTIONS')
    const isRead = method === 'GET' || method === 'HEAD'
    const { host } = exchange.request.headers
    const document = isRead ? metadata.describe(host) : { error: 'method_not_allowed' }
    sendOwnResponse(exchange, {
      status: isRead ? 200 : 405,
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(document)),
      headers: {
        ...corsHeaders(exchange),
        ...(isRead ? {} : { allow: 'GET, OPTIONS' }),
      },
    })
  },
})
