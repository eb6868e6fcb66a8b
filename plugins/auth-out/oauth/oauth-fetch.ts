import type { CustomFetch } from 'openid-client'
import { parseObject } from '../../../src/lib/parse-object.ts'
import { type GuardedRequest, guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { isLoopback } from '../../../src/net/loopback.ts'
import { MOST_BYTES, RESPONSE_MS } from './get-document.ts'
import type { Reach } from './types.ts'

/** Where requests with codes, tokens and secrets may go. */
export interface Endpoints extends Reach {
  readonly mayBePrivate: boolean
}

/** Sends a request to an endpoint of an authorization server. Redirects are refused: they could pass credentials on. */
export const sendToEndpoint = (
  url: string,
  request: Pick<GuardedRequest, 'method' | 'headers' | 'body'>,
  { mayBePrivate, timeoutMs = RESPONSE_MS, ca, signal }: Endpoints,
) =>
  guardedFetch(url, {
    ...request,
    allowPrivate: mayBePrivate,
    allowHttp: isLoopback(URL.parse(url)?.hostname ?? ''),
    timeoutMs,
    stepTimeoutMs: timeoutMs,
    maxBytes: MOST_BYTES,
    maxErrorBytes: MOST_BYTES,
    maxRedirects: 0,
    ca,
    signal,
  })

/**
 * The same for openid-client. Evens out what servers do differently: an OAuth error with status 200 becomes a 400,
 * JSON counts whatever its media type, and a challenge beside an error body is left out, since the body says more.
 * ID tokens are taken out and given to `keepIdToken`: nobody here relies on one, and a clock that is wrong must not
 * end a login.
 */
export const oauthFetch =
  (endpoints: Endpoints, keepIdToken: (token: string) => void = () => undefined): CustomFetch =>
  async (url, { method, headers, body }) => {
    const answer = await sendToEndpoint(
      url,
      {
        method: method === 'POST' ? 'POST' : 'GET',
        headers,
        ...(body == null ? {} : { body: String(body) }),
      },
      endpoints,
    )
    const retryAfter = answer.header('retry-after')
    const shown = new Headers(retryAfter === undefined ? {} : { 'retry-after': retryAfter })
    const value = parseObject(answer.body.toString('utf8'))
    if (!value) {
      const isEmpty = answer.status === 204 || answer.status === 304 // such a Response takes no body
      return new Response(isEmpty ? null : answer.body, { status: answer.status, headers: shown })
    }
    const { id_token: idToken, ...rest } = value
    if (typeof idToken === 'string') keepIdToken(idToken)
    const isError = typeof value.error === 'string' && value.access_token === undefined
    shown.set('content-type', 'application/json')
    return new Response(JSON.stringify(rest), {
      status: isError && answer.status < 300 ? 400 : answer.status,
      headers: shown,
    })
  }
