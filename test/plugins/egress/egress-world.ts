import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Resolve } from '../../../plugins/egress/decision.ts'
import { compilePolicy, type PolicyOptions } from '../../../plugins/egress/policy.ts'
import { connectTo } from '../../../plugins/egress/proxy/dial.ts'
import type { EgressLimits } from '../../../plugins/egress/proxy/egress-limits.ts'
import {
  createEgressProxy,
  type EgressEvent,
  type EgressListener,
} from '../../../plugins/egress/proxy/egress-proxy.ts'
import type { PermissionProfile } from '../../../src/contracts/run-config.ts'
import type { ListenAddress } from '../../../src/contracts/runtime.ts'
import { createLog } from '../../../src/log.ts'

/** Names of the test's own name server. */
export const resolveFrom =
  (names: Readonly<Record<string, readonly string[]>>, asked: string[] = []): Resolve =>
  async name => {
    asked.push(name)
    return names[name] ?? []
  }

/** A web server on loopback that tells what it was sent. */
export async function webServer(
  answer: (request: IncomingMessage) => {
    status?: number
    headers?: Record<string, string>
    body?: string
  } = () => ({}),
): Promise<{
  port: number
  server: Server
  seen: { method: string; url: string; rawHeaders: string[]; body: string }[]
}> {
  const seen: { method: string; url: string; rawHeaders: string[]; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ method: request.method ?? '', url: request.url ?? '', rawHeaders: request.rawHeaders, body })
    const { status = 200, headers = {}, body: text = 'hello' } = answer(request)
    response.writeHead(status, headers).end(text)
  })
  const port = await listenOn(server)
  return { port, server, seen }
}

/** Starts any server on a free loopback port, closed with the test. */
export async function listenOn(server: Server | import('node:net').Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export interface EgressWorld {
  readonly listener: EgressListener
  readonly port: number
  /** Every connection that the proxy has tried to open. */
  readonly dialled: { address: string; port: number }[]
  readonly events: EgressEvent[]
  readonly lines: Record<string, unknown>[]
  readonly asked: string[]
  /** Opens another listener of the same proxy. */
  open(
    workload: string,
    profile: PermissionProfile | undefined,
    listen?: ListenAddress,
    peer?: string,
  ): Promise<EgressListener>
}

/** A real proxy with one listener on loopback. */
export async function egressWorld(
  profile: PermissionProfile | undefined,
  options: {
    names?: Readonly<Record<string, readonly string[]>>
    resolve?: Resolve
    policy?: PolicyOptions
    limits?: Partial<EgressLimits>
    own?: readonly string[]
    listen?: ListenAddress
  } = {},
): Promise<EgressWorld> {
  const lines: Record<string, unknown>[] = []
  const asked: string[] = []
  const dialled: { address: string; port: number }[] = []
  const events: EgressEvent[] = []
  const proxy = createEgressProxy({
    log: createLog({ write: line => lines.push(JSON.parse(line)), human: false, debug: true }),
    resolve: options.resolve ?? resolveFrom(options.names ?? {}, asked),
    connect(address, port, onread) {
      dialled.push({ address, port })
      return connectTo(address, port, onread)
    },
    onDecision: event => events.push(event),
    ownAddresses: () => new Set(options.own ?? ['127.0.0.1', '::1', '192.168.7.7']),
    ...(options.limits ? { limits: options.limits } : {}),
  })
  onTestFinished(() => proxy.close())
  const open = (
    workload: string,
    profile: PermissionProfile | undefined,
    listen?: ListenAddress,
    peer?: string,
  ) =>
    proxy.open({
      workload,
      policy: compilePolicy(profile, options.policy),
      listen: listen ?? { host: '127.0.0.1', port: 0 },
      peer,
    })
  const listener = await open('one', profile, options.listen)
  return { listener, port: portOf(listener), dialled, events, lines, asked, open }
}

export const portOf = (listener: EgressListener): number =>
  'port' in listener.listen ? listener.listen.port : 0

/** Sends bytes as they are and answers all that comes back until the other end closes. */
export async function sendRaw(
  to: number | string,
  bytes: string,
  options: { end?: boolean } = {},
): Promise<string> {
  const socket = typeof to === 'number' ? connect(to, '127.0.0.1') : connect({ path: to })
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('latin1').on('data', chunk => {
    text += chunk
  })
  socket.on('error', () => undefined)
  socket.write(bytes, 'latin1')
  if (options.end) socket.end()
  await new Promise(resolve => socket.once('close', resolve))
  return text
}

/** Sends one plain request through the proxy; the connection is closed after the answer. */
export const sendGet = (
  to: number | string,
  url: string,
  headers: readonly string[] = [],
): Promise<string> => {
  const host = /^http:\/\/([^/?#]*)/.exec(url)?.[1] ?? ''
  return sendRaw(
    to,
    [`GET ${url} HTTP/1.1`, `Host: ${host}`, ...headers, 'Connection: close', '', ''].join('\r\n'),
  )
}

/** Opens a tunnel; answers the socket and the status line with headers (and body, if refused). */
export async function openTunnel(to: number, target: string): Promise<{ socket: Socket; answer: string }> {
  const socket = connect({ port: to, host: '127.0.0.1', allowHalfOpen: true })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  return { socket, answer: chunk.toString('latin1') }
}

export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
