import { randomUUID } from 'node:crypto'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import { clientAddressOf } from '../proxy/index.ts'
import { toPrincipal } from './principal.ts'

/** The version of what is sent and received. */
export const VERSION = 'v0.1.0'

/** What one webhook is sent. */
export interface Envelope {
  readonly uid: string
  readonly body: Buffer
}

/** Makes what webhooks are sent for one exchange: a message (raw text) stays as it was written, byte for byte. */
export function createEnvelopes(exchange: Exchange, config: RunConfig): (message: string) => Envelope {
  const principal = toPrincipal(exchange.caller)
  const context = {
    server_name: config.name,
    source_ip: sourceOf(exchange, config),
    transport: config.transport,
  }
  return message => {
    const uid = randomUUID()
    const head = JSON.stringify({ version: VERSION, uid, timestamp: new Date().toISOString(), principal })
    const body = Buffer.concat([
      Buffer.from(`${head.slice(0, -1)},"mcp_request":`),
      Buffer.from(message, 'latin1'),
      Buffer.from(`,"context":${JSON.stringify(context)}}`),
    ])
    return { uid, body }
  }
}

/** `HOST:PORT`; behind a trusted proxy the port of the client is not known. */
function sourceOf({ request }: Exchange, config: RunConfig): string {
  const { remoteAddress, remotePort } = request.socket
  const address = clientAddressOf(request, config) ?? ''
  const host = address.includes(':') ? `[${address}]` : address
  return address === remoteAddress ? `${host}:${remotePort}` : address
}
