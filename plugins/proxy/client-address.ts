import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { RunConfig } from '../../src/contracts/run-config.ts'

/**
 * The address that a request comes from: with a trusted proxy in front the one that it saw, which stands last in
 * `X-Forwarded-For`. What stands before it was written by anybody. Undefined where the connection has no address.
 */
export function clientAddressOf(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  { trust_proxy_headers: trust }: Pick<RunConfig, 'trust_proxy_headers'>,
): string | undefined {
  const last = trust
    ? String(headers['x-forwarded-for'] ?? '')
        .split(',')
        .at(-1)
        ?.trim()
    : undefined
  return last && isIP(last) ? last : socket.remoteAddress
}
