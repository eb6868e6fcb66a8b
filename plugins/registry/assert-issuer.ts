import { failures } from '../../src/errors.ts'
import { isLoopback } from '../../src/net/loopback.ts'

/** Fails with `usage` unless it can be an issuer (RFC 8414, section 2): https, or http on this machine. */
export function assertIssuer(text: string, name: string): void {
  const url = URL.parse(text)
  const isPlain = url && !url.username && !url.password && !url.search && !url.hash
  if (isPlain && url.protocol === 'https:') return
  if (isPlain && url.protocol === 'http:' && isLoopback(url.hostname)) return
  // What stands before an `@` may be a password.
  const shown = text.replace(/\/\/.*@/, '//…@')
  throw failures.usage({ text: `${name} takes an https URL (http on this machine), not "${shown}".` })
}
