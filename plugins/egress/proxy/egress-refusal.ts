import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Decision } from '../decision.ts'
import type { Rejection } from './proxy-request-head.ts'

/** A response of the proxy itself, for the reader of the server's error output. */
export interface Refusal {
  readonly status: number
  readonly text: string
  /** Error type of RFC 9209, for the Proxy-Status header. */
  readonly error: string
}

/** A destination that may not be reached, with what to add to the profile; or a name without an address. */
export function refuseDecision(workload: string, decision: Decision): Refusal {
  const { host, port, rule, reason, add = [] } = decision
  const text = [
    `keelson: the workload "${workload}" may not connect to ${host}:${port}.`,
    `Rule: ${rule}`,
    `Reason: ${reason}`,
    ...(add.length ? ['To allow it, in network.outbound of its permission profile:'] : []),
    ...add.map(line => `  ${line}`),
  ]
  if (rule === 'gateway') text.splice(3, 1, 'To allow it, run the workload with:')
  if (rule !== 'unresolvable') return refusal(403, 'http_request_denied', text)
  return refusal(502, 'dns_error', [`keelson: ${reason}.`])
}

export function refuseRequest({ status, problem }: Rejection): Refusal {
  return refusal(status, 'http_request_error', [`keelson: the request is not carried: ${problem}.`])
}

/** The refusal for a destination that is allowed and does not respond. */
export function refuseUnreachable(host: string, port: number, error: unknown): Refusal {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? 'no connection'
  if (code === 'ETIMEDOUT') {
    return refusal(504, 'connection_timeout', [`keelson: ${host}:${port} did not respond in time.`])
  }
  const kind = code === 'ECONNREFUSED' ? 'connection_refused' : 'destination_unavailable'
  return refusal(502, kind, [`keelson: ${host}:${port} cannot be reached (${code}).`])
}

const refusal = (status: number, error: string, lines: readonly string[]): Refusal => ({
  status,
  error,
  text: `${lines.join('\n')}\n`,
})

const headersOf = ({ text, error }: Refusal): OutgoingHttpHeaders => ({
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Length': Buffer.byteLength(text),
  'Proxy-Status': `keelson; error=${error}`,
  Connection: 'close',
})

/** Responds to a plain request. A response that has begun is cut off, so that it shows as incomplete. */
export function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent) response.destroy()
  else response.writeHead(refusal.status, headersOf(refusal)).end(refusal.text)
}

const LINGER_MS = 1000

/** Responds on a bare socket and closes it, with a moment for the peer to read the response. */
export function endWithRefusal(socket: Socket, refusal: Refusal): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const head = Object.entries(headersOf(refusal)).map(([name, value]) => `${name}: ${value}\r\n`)
  const status = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n`
  // Unread data would make the kernel reset the connection, and the response would be lost.
  socket.on('error', () => socket.destroy()).on('end', () => socket.destroySoon())
  socket.setTimeout(LINGER_MS, () => socket.destroy())
  socket.resume().end(`${status}${head.join('')}\r\n${refusal.text}`)
}
