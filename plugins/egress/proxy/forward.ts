import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { Decision } from '../decision.ts'
import { type Connect, dial } from './dial.ts'
import type { EgressLimits } from './egress-limits.ts'
import { refuseRequest, refuseUnreachable, sendRefusal } from './egress-refusal.ts'
import type { Head } from './proxy-request-head.ts'
import { createReader, type Reader } from './reader.ts'

/** Headers that concern one connection only (RFC 9110 section 7.6.1), and those addressed to proxies. */
const HOP_BY_HOP = new Set([
  'connection',
  'expect', // the proxy's own listener responds to it
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const VIA = '1.1 keelson' // RFC 9110 section 7.6.3
const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS'])

type AgentOptions = { addresses: readonly string[]; port: number }
/** The readers of connections to servers. */
const readers = new WeakMap<Socket, Reader>()

type OnSocket = (error: unknown, socket?: unknown) => void

/** Keeps connections to servers open for the next request, by address and not by name. */
export function createEgressAgent(connect: Connect, limits: EgressLimits): Agent {
  return Object.assign(
    new Agent({ keepAlive: true, maxFreeSockets: 64, maxTotalSockets: limits.maxConnections }),
    {
      getName: (options?: unknown) => {
        const { addresses, port } = options as AgentOptions
        return `${addresses.join()} ${port}`
      },
      createConnection: (options: unknown, onSocket: OnSocket) => {
        const { addresses, port } = options as AgentOptions
        const reader = createReader()
        dial({ addresses, port, connect, timeoutMs: limits.connectMs, onread: reader.onread }).then(
          socket => {
            readers.set(socket, reader)
            reader.begin(socket)
            onSocket(null, socket)
          },
          error => onSocket(error),
        )
      },
    },
  ) as Agent
}

/** Forwards one plain HTTP request to an allowed destination, and the response to the client. */
export function forward(
  exchange: { request: IncomingMessage; response: ServerResponse; head: Head; decision: Decision },
  agent: Agent,
  limits: EgressLimits,
  { isRetry = false }: { isRetry?: boolean } = {},
): void {
  const { request, response, head, decision } = exchange
  const { addresses, port } = decision
  const method = request.method ?? 'GET'
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  const abandon = () => outgoing.destroy()

  let outgoing: ReturnType<typeof httpRequest>
  try {
    outgoing = httpRequest({
      ...({ addresses } satisfies Partial<AgentOptions>),
      port,
      method,
      path: head.path ?? '/',
      headers: requestHeaders(request, decision),
      setHost: false,
      agent,
      maxHeaderSize: limits.maxHeaderBytes,
      timeout: limits.idleMs,
    })
  } catch {
    sendRefusal(response, refuseRequest({ status: 400, problem: 'one of its headers cannot be written' }))
    return
  }
  response.once('close', abandon)
  outgoing.once('timeout', () => outgoing.destroy(timedOut()))
  outgoing.on('error', error => {
    response.off('close', abandon)
    if (response.destroyed || response.headersSent) return response.destroy()
    // The server may just have closed a kept connection; it has seen nothing of this request.
    if (outgoing.reusedSocket && !hasBody && BODILESS.has(method) && !isRetry) {
      return forward(exchange, agent, limits, { isRetry: true })
    }
    sendRefusal(response, refuseUnreachable(decision.host, port, error))
  })
  outgoing.once('response', answer => {
    const headers = [...endToEnd(answer), 'Via', VIA]
    try {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', headers)
    } catch (error) {
      answer.destroy()
      return sendRefusal(response, refuseUnreachable(decision.host, port, error))
    }
    const hasNone = method === 'HEAD' || answer.statusCode === 304 || answer.statusCode === 204
    if (!hasNone && readers.get(answer.socket)?.takeOver(answer, response)) {
      return void answer.once('error', () => undefined) // to the parser it stays incomplete
    }
    // An incomplete response must be incomplete for the client too, hence pipeline.
    pipeline(answer, response, error => error && outgoing.destroy())
  })
  // Not a pipeline: that would close the client's connection with the server's, and no 502 would arrive.
  if (hasBody) request.pipe(outgoing)
  else outgoing.end()
}

function requestHeaders(request: IncomingMessage, { host, port }: Decision): string[] {
  const name = host.includes(':') ? `[${host}]` : host
  const headers = ['Host', port === 80 ? name : `${name}:${port}`]
  const rest = endToEnd(request)
  for (let i = 0; i < rest.length; i += 2) {
    if (rest[i]?.toLowerCase() !== 'host') headers.push(rest[i] ?? '', rest[i + 1] ?? '')
  }
  if (request.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked')
  else if (request.headers['content-length'] === undefined && !BODILESS.has(request.method ?? '')) {
    headers.push('Content-Length', '0')
  }
  headers.push('Via', VIA, 'Connection', 'keep-alive')
  return headers
}

/** The headers as received, without those for this connection only. */
function endToEnd({ rawHeaders, headers }: IncomingMessage): string[] {
  const nominated = (headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    if (HOP_BY_HOP.has(name) || name.startsWith('proxy-') || nominated.includes(name)) continue
    kept.push(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
  }
  return kept
}

const timedOut = (): Error =>
  Object.assign(new Error('the server stopped responding'), { code: 'ETIMEDOUT' as const })
