import type { Dispatcher } from 'undici'
import { readMessage } from '../../../src/net/rpc-message.ts'
import { revision20260728 } from '../revisions/index.ts'
import type { Outgoing } from './relay-http.ts'
import { type Sign, signed } from './signed.ts'

/** How long the server may take to respond to a cancellation, in milliseconds. */
const TIMEOUT_MS = 5000

/** Headers that say something of the call itself. */
const OF_CALL = /^(accept|content-type|content-length|mcp-method|mcp-name|mcp-param-.*)$/i

/**
 * Tells a server that a call was given up, with the id that the server knows. Servers of 2026-07-28 know it by the
 * end of the connection. A server that cannot be told is left to itself.
 */
export async function cancelCall(
  agent: Dispatcher,
  outgoing: Outgoing,
  { sign, reason }: { sign: Sign | undefined; reason: string },
): Promise<void> {
  const { origin, path, body } = outgoing
  const message = Buffer.isBuffer(body) ? readMessage(body.toString('latin1')) : undefined
  const headers: string[] = [
    'accept',
    'application/json, text/event-stream',
    'content-type',
    'application/json',
  ]
  for (let i = 0; i < outgoing.headers.length; i += 2) {
    const [name = '', value = ''] = outgoing.headers.slice(i, i + 2)
    if (/^mcp-protocol-version$/i.test(name) && value === revision20260728.version) return
    if (!OF_CALL.test(name)) headers.push(name, value)
  }
  if (message?.kind !== 'request') return
  const params = `{"requestId":${message.idText},"reason":${JSON.stringify(reason)}}`
  const plain: Outgoing = {
    ...{ origin, path, method: 'POST', headers },
    body: Buffer.from(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`, 'latin1'),
  }
  try {
    const sent = sign ? await signed(plain, sign) : plain
    const timeouts = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS }
    const response = await agent.request({ ...sent, ...timeouts, method: 'POST' })
    await response.body.dump()
  } catch {
    // The connection of the call is closed already, which many servers take for a cancellation.
  }
}
