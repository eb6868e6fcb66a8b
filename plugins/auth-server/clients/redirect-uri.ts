import { isLoopback } from '../../../src/net/loopback.ts'

const LONGEST = 2048
/** Characters of a URI (RFC 3986). Everything else would be written differently by different programs. */
const PLAIN = /^[A-Za-z0-9._~:/?#[\]@!$&'()+,;=%-]+$/
/** URL takes `;` and `,` in host names, too, which would end a directive of the policy of our pages. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/

/** Says why a client cannot be sent back to a URI; undefined: it can. */
export function redirectUriProblem(text: string): string | undefined {
  if (text.length > LONGEST) return `is longer than ${LONGEST} characters`
  const url = PLAIN.test(text) ? URL.parse(text) : null
  if (!url) return 'is not an absolute URI'
  if (!/^https?:/i.test(text)) return privateUseProblem(text, url)
  if (!/^https?:\/\//i.test(text)) return 'is neither https nor http on loopback'
  if (text.includes('#')) return 'has a fragment'
  if (url.username || url.password || hasUserInfo(text)) return 'holds a user name'
  if (!HOST.test(url.hostname)) return 'has a host that is neither a name nor an address'
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return 'is http, but not on loopback'
  return undefined
}

/**
 * Schemes that known clients have claimed. Others have to be made of a domain (RFC 8252, section 7.1): a browser handles
 * none of these itself, as it does `javascript:` or `data:`.
 */
const CLAIMED: readonly string[] = [
  ...['cursor', 'vscode', 'vscode-insiders', 'vscodium'],
  ...['warp', 'windsurf', 'zed'],
]
const DOMAIN_SCHEME = /^[a-z][a-z0-9-]*(?:\.[a-z0-9][a-z0-9-]*)+$/

/** A URI is refused unless it is written as a browser writes it: what is shown to a person is what is opened. */
function privateUseProblem(text: string, url: URL): string | undefined {
  const scheme = url.protocol.slice(0, -1)
  if (!CLAIMED.includes(scheme) && !DOMAIN_SCHEME.test(scheme))
    return 'is neither https, nor http on loopback, nor of a scheme that is made of a domain, as com.example.app'
  if (!text.startsWith(`${scheme}:/`)) return 'has no path'
  if (text.includes('#')) return 'has a fragment'
  if (hasUserInfo(text)) return 'holds a user name'
  if (url.hostname !== '' && !HOST.test(url.hostname))
    return 'has a host that is neither a name nor an address'
  return url.href === text && !/%(?:[01]|7f)/i.test(text) ? undefined : 'is not written in its normal form'
}

/** Whether a program on the person's computer has to claim the scheme of a redirect URI, as any program there can. */
export const isPrivateUse = (uri: string): boolean => !/^https?:/i.test(uri)

/** Returns where a redirect URI leads, for people. */
export function placeOf(uri: string): string {
  const { protocol, host } = new URL(uri)
  if (isPrivateUse(uri)) return `the program on this computer that opens links with ${protocol}`
  return protocol === 'http:' ? `a program on this computer (${host})` : host
}

/** `https://@host` has an empty user name, which URL does not show. */
const hasUserInfo = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^/?]*@/i.test(text)

/**
 * Whether a client may be sent back to a URI: it is one that the client registered, character by character. The port
 * of http on loopback may be another one (RFC 8252, section 7.3).
 */
export function isRegistered(asked: string, registered: readonly string[]): boolean {
  if (registered.includes(asked)) return true
  if (redirectUriProblem(asked) !== undefined) return false
  const url = new URL(asked)
  if (url.protocol !== 'http:') return false
  const plain = withoutPort(asked)
  return registered.some(one => one.startsWith('http:') && withoutPort(one) === plain)
}

const withoutPort = (uri: string): string => uri.replace(/^(http:\/\/(?:\[[^\]]*\]|[^/?:]*)):\d+/, '$1')
