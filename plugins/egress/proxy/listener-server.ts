import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Decision, Destination } from '../decision.ts'
import type { Connect } from './dial.ts'
import type { EgressLimits } from './egress-limits.ts'
import { endWithRefusal, refuseDecision, refuseRequest, sendRefusal } from './egress-refusal.ts'
import { createEgressAgent, forward } from './forward.ts'
import { openTunnel } from './open-tunnel.ts'
import { isRejection, readHead } from './proxy-request-head.ts'

/** What a listener needs from the proxy behind it. */
export interface ListenerParts {
  readonly workload: string
  /** The only address from which connections are accepted. */
  readonly peer?: string | undefined
  readonly limits: EgressLimits
  readonly connect: Connect
  /** Decides by the current policy, and logs and reports the decision. */
  readonly judge: (destination: Destination) => Promise<Decision>
  /** Decides the same for an open connection, without a log line or a report. */
  readonly recheck: (decision: Decision) => Promise<boolean>
  readonly onBadRequest: (problem: string) => void
}

/** A server for the requests of one workload, not yet listening. */
export interface ListenerServer {
  readonly server: Server
  /** Closes connections that are no longer allowed. */
  recheck(): Promise<void>
  /** Closes all connections. */
  destroy(): void
}

/** A connection or request that a decision allowed. */
interface Standing {
  readonly decision: Decision
  cut(): void
}

export function createListenerServer(parts: ListenerParts): ListenerServer {
  const { workload, limits, connect, judge, onBadRequest } = parts
  const agent = createEgressAgent(connect, limits)
  const sockets = new Set<Socket>()
  const standing = new Set<Standing>()
  /** Number of plain requests in progress on a socket. A CONNECT among them would mix the responses. */
  const inWork = new WeakMap<Socket, number>()
  const count = (socket: Socket, step: 1 | -1) => inWork.set(socket, (inWork.get(socket) ?? 0) + step)
  const isBusy = (socket: Socket) => (inWork.get(socket) ?? 0) > 0

  /** Adds it until it closes, so that a change of policy can close it. */
  function watch(decision: Decision, stream: Socket | ServerResponse): void {
    const entry = { decision, cut: () => void stream.destroy() }
    standing.add(entry)
    stream.once('close', () => standing.delete(entry))
  }

  const server = createServer({
    insecureHTTPParser: false, // also when NODE_OPTIONS says otherwise
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: 0, // uploads have no time limit; `timeout` limits the time without data
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
  })
  server.maxHeadersCount = 0 // headers are limited in bytes; a limit of their number would drop some silently
  server.maxConnections = limits.maxConnections
  server.timeout = limits.connectMs + limits.idleMs // the connection to the server times out first, so that 504 can be sent

  server.on('connection', (socket: Socket) => {
    // A listener on a bridge can be reached from other networks of this host where no firewall forbids it.
    if (parts.peer !== undefined && socket.remoteAddress !== parts.peer) return void socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || isBusy(socket)) return void socket.destroy()
    const rejection = toRejection(error)
    onBadRequest(rejection.problem)
    endWithRefusal(socket, refuseRequest(rejection))
  })

  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    count(socket, 1)
    response.once('close', () => count(socket, -1))
    const head = readHead(request)
    if (isRejection(head)) {
      onBadRequest(head.problem)
      return sendRefusal(response, refuseRequest(head))
    }
    const decision = await judge({ host: head.target.text, port: head.target.port })
    if (response.destroyed) return
    if (!decision.allowed) return sendRefusal(response, refuseDecision(workload, decision))
    watch(decision, response)
    forward({ request, response, head, decision }, agent, limits)
  })

  server.on('connect', async (request: IncomingMessage, socket: Socket, early: Buffer) => {
    socket.on('error', () => socket.destroy())
    if (isBusy(socket)) return void socket.destroy()
    const head = readHead(request)
    if (isRejection(head)) {
      onBadRequest(head.problem)
      return endWithRefusal(socket, refuseRequest(head))
    }
    const decision = await judge({ host: head.target.text, port: head.target.port })
    if (socket.destroyed) return
    if (!decision.allowed) return endWithRefusal(socket, refuseDecision(workload, decision))
    watch(decision, socket)
    await openTunnel(socket, { early, decision, connect, limits })
  })

  return {
    server,
    async recheck() {
      const all = [...standing]
      const kept = await Promise.all(all.map(({ decision }) => parts.recheck(decision)))
      for (const [index, { cut }] of all.entries()) if (!kept[index]) cut()
    },
    destroy() {
      for (const socket of sockets) socket.destroy()
      agent.destroy()
    },
  }
}

function toRejection({ code, message }: NodeJS.ErrnoException): { status: number; problem: string } {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, problem: 'its headers are too long' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, problem: 'it did not arrive in time' }
  return { status: 400, problem: `it is not well-formed HTTP/1.1 (${code ?? message})` }
}
