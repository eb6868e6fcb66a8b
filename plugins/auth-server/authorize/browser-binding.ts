import type { IncomingMessage } from 'node:http'
import { hashOf, isSame, randomToken } from '../protocol/secrets.ts'
import { PENDING_SECONDS } from './pending-seconds.ts'

/** Names the cookie of the one browser that may finish a login, and holds the hash of its token. */
export interface BrowserBinding {
  readonly cookie: string
  readonly hash: string
}

/**
 * A page at `https` gets the prefix `__Host-`, with which no other host can set it (RFC 6265bis, section 4.1.3.2).
 */
const nameOf = (pageBase: string, id: string): string =>
  `${pageBase.startsWith('https:') ? '__Host-' : ''}keelson-login-${id.slice(0, 12)}`

/**
 * Binds a login to a browser. Every login has a cookie of its own, so that several tabs can log in at once, and a
 * cookie that was planted before is of no use. Its value begins with the token.
 */
export function bindingOf(pageBase: string, id: string): { binding: BrowserBinding; token: string } {
  const token = randomToken()
  return { binding: { cookie: nameOf(pageBase, id), hash: hashOf('browser', token) }, token }
}

const securityOf = ({ cookie }: BrowserBinding): string => (cookie.startsWith('__Host-') ? '; Secure' : '')

/** `Lax`: the browser comes back from the page of the provider, which is another site. */
export const setCookie = (binding: BrowserBinding, value: string): string =>
  `${binding.cookie}=${value}; Path=/; Max-Age=${PENDING_SECONDS}; HttpOnly; SameSite=Lax${securityOf(binding)}`

/** Makes the browser forget the cookie of a login that has ended. */
export const forgetCookie = (binding: BrowserBinding): string =>
  `${binding.cookie}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${securityOf(binding)}`

function valuesOf({ headers }: IncomingMessage, cookie: string): string[] {
  const pairs = (headers.cookie ?? '').split(';').map(pair => pair.trim())
  return pairs.filter(pair => pair.startsWith(`${cookie}=`)).map(pair => pair.slice(cookie.length + 1))
}

/** Returns the value of the cookie of the login with this identifier. */
export const cookieValueOf = (request: IncomingMessage, pageBase: string, id: string): string | undefined =>
  valuesOf(request, nameOf(pageBase, id))[0]

/** Returns the token of the cookie if the request comes from the browser that the login is bound to. */
export const cookieOf = (request: IncomingMessage, { cookie, hash }: BrowserBinding): string | undefined =>
  valuesOf(request, cookie)
    .map(value => value.split('.', 1)[0] ?? '')
    .find(token => isSame(hashOf('browser', token), hash))
