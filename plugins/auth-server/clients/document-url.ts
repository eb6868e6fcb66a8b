import { isLoopback } from '../../../src/net/loopback.ts'

const LONGEST = 2048

/** Whether a client identifier looks like the URL of a document that describes the client. */
export const isUrl = (id: string): boolean => /^https?:/i.test(id)

/**
 * Says why a URL cannot be a client identifier (OAuth Client ID Metadata Document, section 3); undefined: it can.
 * `allowLoopback`: http on loopback, for development.
 */
export function documentUrlProblem(
  text: string,
  { allowLoopback }: { allowLoopback: boolean },
): string | undefined {
  if (text.length > LONGEST) return `is longer than ${LONGEST} characters`
  const url = URL.parse(text)
  if (!url) return 'is not a URL'
  if (url.protocol === 'http:' && !(allowLoopback && isLoopback(url.hostname))) return 'is not https'
  if (url.username || url.password || /^https?:\/\/[^/?#]*@/i.test(text)) return 'holds a user name'
  if (text.includes('#')) return 'has a fragment'
  if (url.pathname === '/') return 'has no path'
  if (/\/\.{1,2}(?:[/?]|$)|%2e/i.test(text)) return 'has dot segments'
  // Whatever else is written in two ways could be compared in two ways.
  return url.href === text ? undefined : 'is not written in its normal form'
}
