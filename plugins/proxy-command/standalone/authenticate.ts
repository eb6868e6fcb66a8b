import type { CallerAuth } from '../../../src/contracts/caller-auth.ts'
import type { Middleware, MiddlewareFactory } from '../../../src/contracts/pipeline.ts'
import { sendOwnResponse } from '../../proxy/index.ts'

/** What makes callers of a proxy log in; nothing when nobody has to. */
export const authMiddlewares = (auth: CallerAuth | undefined): readonly MiddlewareFactory[] =>
  auth ? [async () => createResourceMetadata(auth), async () => createAuthenticate(auth)] : []

/**
 * Lets requests in whose bearer token is valid, and takes the token out: it was issued for this proxy, and the
 * target must not get it (MCP, authorization, token passthrough).
 */
const createAuthenticate = (auth: CallerAuth): Middleware => ({
  name: 'authenticate',
  stage: 'authenticate',
  wrap: next => async exchange => {
    const outcome = await auth.admit(exchange.request.headers.authorization)
    if ('caller' in outcome) {
      exchange.setHeader('authorization', undefined)
      return next(exchange)
    }
    const { 'content-type': contentType = 'application/json', ...headers } = outcome.refusal.headers
    const { status, body } = outcome.refusal
    sendOwnResponse(exchange, { status, contentType, body: Buffer.from(body), headers })
  },
})

/** Serves the document that says where callers log in (RFC 9728). */
const createResourceMetadata = ({ metadata }: CallerAuth): Middleware => ({
  name: 'resource-metadata',
  stage: 'well-known',
  wrap: next => exchange => {
    const path = exchange.url.split('?', 1)[0]
    if (!metadata || path !== metadata.path || exchange.request.method !== 'GET') return next(exchange)
    sendOwnResponse(exchange, {
      status: 200,
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(metadata.document)),
      headers: { 'access-control-allow-origin': '*' },
    })
  },
})
