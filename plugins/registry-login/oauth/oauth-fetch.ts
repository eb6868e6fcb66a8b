import type { CustomFetch } from 'openid-client'
import { guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { isLoopback } from '../../../src/net/loopback.ts'

/** How an identity provider is reached. */
export interface Reach {
  /** Addresses of private networks. True where a person named the provider, else as for whoever did. */
  readonly allowPrivate: boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

const MiB = 1024 * 1024

/**
 * Sends requests of OAuth: by https, or by http on this machine. Redirects are not followed, since they could
 * pass codes and tokens to another host. Time and size are limited.
 */
export const oauthFetch =
  ({ allowPrivate, timeoutMs, signal }: Reach): CustomFetch =>
  async (url, { method, headers, body }) => {
    const answer = await guardedFetch(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body == null ? {} : { body: String(body) }),
      allowPrivate,
      allowHttp: isLoopback(new URL(url).hostname),
      timeoutMs,
      stepTimeoutMs: timeoutMs,
      maxBytes: MiB,
      maxErrorBytes: MiB,
      maxRedirects: 0,
      signal,
    })
    const shown = ['content-type', 'www-authenticate'].flatMap(name => {
      const value = answer.header(name)
      return value === undefined ? [] : [[name, value] satisfies [string, string]]
    })
    const isEmpty = answer.status === 204 || answer.status === 304 // such a Response takes no body
    return new Response(isEmpty ? null : answer.body, { status: answer.status, headers: shown })
  }

/** Whether a browser or a token may be sent there: https, or http on this machine. */
export function isSafeEndpoint(text: string | undefined): boolean {
  const url = URL.parse(text ?? '')
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
}
