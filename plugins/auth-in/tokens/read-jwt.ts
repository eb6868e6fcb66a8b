import { isUtf8 } from 'node:buffer'
import { repeatedMember } from '../../../src/lib/raw-json.ts'
import { failures } from '../failures.ts'

/** What a JWT (RFC 7519) says before its signature is checked; nobody may rely on it. */
export interface UncheckedJwt {
  readonly header: Readonly<Record<string, unknown>>
}

/**
 * Whether a token has the form of a JWT that is signed or encrypted; what it says is another matter. Such a token is
 * never introspected.
 */
export function isJwt(token: string): boolean {
  const parts = token.split('.')
  return (parts.length === 3 || parts.length === 5) && opensObject(parts[0] ?? '')
}

/** Whether it is an object in base64url; most begin like this. */
const opensObject = (head: string): boolean =>
  head.startsWith('ey') || Buffer.from(head, 'base64url').toString('latin1').trimStart().startsWith('{')

const invalid = (problem: string) => failures.token_invalid({ problem })

/** Types of tokens (RFC 8725, section 3.11) that can be access tokens. The last is that of RFC 9068. */
const TYPES = new Set([undefined, 'jwt', 'at+jwt'])

/**
 * Checks the form of a JWT: UTF-8 without members that stand twice (RFC 7515, section 4; RFC 8259), a header without
 * `crit`, since no extension is known here, and a type that an access token may have. Fails with `token_invalid`.
 */
export function readJwt(token: string, { accessTokensOnly }: { accessTokensOnly: boolean }): UncheckedJwt {
  const [head = '', payload = '', signature = '', ...more] = token.split('.')
  if (more.length > 0) throw invalid('it is encrypted')
  if (!signature) throw invalid('it is not signed')
  const header = parseObject(head)
  if (!header || !parseObject(payload)) throw invalid('it cannot be read')
  const { kid, typ, crit } = header
  if (crit !== undefined) throw invalid('it needs an extension that is not known here (crit)')
  if (kid !== undefined && typeof kid !== 'string') throw invalid('the name of its key is not a text (kid)')
  if (typ !== undefined && typeof typ !== 'string') throw invalid('its type is not a text (typ)')
  const type = typ?.toLowerCase().replace(/^application\//, '')
  if (!TYPES.has(type)) throw invalid('it is not an access token (typ)')
  if (accessTokensOnly && type !== 'at+jwt') {
    throw invalid('it does not say that it is an access token (typ, RFC 9068)')
  }
  return { header }
}

/** The object that a part of a token holds; undefined where it is something else, or ambiguous. */
function parseObject(part: string): Record<string, unknown> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(part)) return undefined
  const bytes = Buffer.from(part, 'base64url')
  try {
    if (!isUtf8(bytes) || repeatedMember(bytes.toString('latin1')) !== undefined) return undefined
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
