import { ID_JAG, TOKEN_TYPES } from './token-types.ts'

/** A token that was issued. */
export interface IssuedToken {
  readonly token: string
  /** How long it is good for, in seconds; undefined where the server does not say. */
  readonly seconds: number | undefined
}

/** What may stand in a header after `Bearer `; larger tokens do not pass most servers. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/

/**
 * Reads the response to an exchange (RFC 8693, section 2.2.1), or why it is not one. A token of another type than
 * was asked for is not used.
 */
export function readExchanged(
  values: Readonly<Record<string, unknown>>,
  wanted: 'access_token' | 'id-jag',
): IssuedToken | { readonly problem: string } {
  const { issued_token_type: issued } = values
  const accepted: readonly unknown[] =
    wanted === 'id-jag' ? [ID_JAG] : [TOKEN_TYPES.access_token, TOKEN_TYPES.jwt]
  if (!accepted.includes(issued))
    return { problem: 'issued_token_type is missing or another one than was asked for' }
  return readToken(values, wanted === 'id-jag' ? ['n_a', 'bearer'] : ['bearer', 'n_a'])
}

/** Reads a token response (RFC 6749, section 5.1), or why it is not one. */
export function readToken(
  { access_token: token, token_type: type, expires_in: seconds }: Readonly<Record<string, unknown>>,
  types: readonly string[] = ['bearer'],
): IssuedToken | { readonly problem: string } {
  if (typeof token !== 'string' || !TOKEN.test(token)) {
    return { problem: 'access_token is missing, or not one line of at most 16384 visible characters' }
  }
  if (typeof type !== 'string' || !types.includes(type.toLowerCase())) {
    return { problem: 'token_type is missing, or asks for more than a bearer token' }
  }
  if (seconds === undefined || seconds === null) return { token, seconds: undefined }
  // Some servers send it as text.
  const life = typeof seconds === 'string' && /^\d{1,12}$/.test(seconds) ? Number(seconds) : seconds
  if (typeof life !== 'number' || !(life > 0)) return { problem: 'expires_in is not a time to come' }
  return { token, seconds: life }
}
