import { failures } from '../../src/errors.ts'
import { isLoopback } from '../../src/net/loopback.ts'

/** Fails with `usage` for a URL that no token may be sent to: it is https, or http on this machine. */
export function assertEndpoint(member: string, text: string | undefined): void {
  const url = URL.parse(text ?? '')
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  if (url && isSafe && !url.username && !url.password && !url.hash) return
  throw failures.usage({
    text: text
      ? `${member} of token_exchange_config is an https URL, or http on this machine.`
      : `token_exchange_config needs ${member}.`,
    hint: member === 'token_url' ? 'Give --token-exchange-url.' : undefined,
  })
}
