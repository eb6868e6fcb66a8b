import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf } from '../../src/errors.ts'
import type { Callers } from '../../src/http/callers.ts'
import { failures } from './failures.ts'
import { announcedLength, type BodyRules } from './request-body.ts'

/** Bounds on what one connection may take. */
export interface ListenerLimits {
  /** For all headers of a request to arrive. */
  readonly headersMs: number
  /** For a whole request to arrive, its body too. */
  readonly uploadMs: number
  /** For the next request on a kept connection. */
  readonly idleMs: number
  /** How often the bounds above are looked at. */
  readonly checkMs: number
  readonly maxHeaderBytes: number
  readonly maxConnections: number
}

export const LISTENER_LIMITS: ListenerLimits = {
  headersMs: 10_000,
  uploadMs: 300_000,
  idleMs: 120_000,
  checkMs: 10_000,
  maxHeaderBytes: 64 * 1024,
  maxConnections: 20_000,
}

/**
 * A bare HTTP server, whose requests wait until it is known who calls. Responses have no time limit: tool
 * calls and event streams last as long as they last.
 */
export function createListener(
  limits: ListenerLimits,
  { callers, rules }: { callers: Callers; rules: BodyRules },
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.uploadMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: limits.checkMs,
    maxHeaderSize: limits.maxHeaderBytes,
  })
  server.maxConnections = limits.maxConnections
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    callers.whenKnown(request, () => onRequest(request, response)),
  )
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    callers.whenKnown(request, () => {
      // Whoever asks first need not send what will be refused.
      const wanted = (announcedLength(request) ?? 0) <= rules.maxBytes && !callers.problemOf(request)
      if (wanted) response.writeContinue()
      onRequest(request, response)
    }),
  )
  return server
}

/** Starts to listen and tells the port. */
export async function listen(server: Server, address: { host: string; port: number }): Promise<number> {
  const { host, port } = address
  await new Promise<void>((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => {
      server.off('listening', onListening)
      reject(toFailure(error, address))
    }
    const onListening = () => {
      server.off('error', onError)
      resolve()
    }
    server.once('error', onError).once('listening', onListening)
    server.listen({ host, port, exclusive: true })
  })
  return (server.address() as AddressInfo).port
}

function toFailure(error: NodeJS.ErrnoException, address: { host: string; port: number }): Error {
  if (error.code === 'EADDRINUSE') return failures.port_busy(address, { cause: error })
  if (error.code === 'EACCES') return failures.port_refused(address, { cause: error })
  const problem = error.code === 'EADDRNOTAVAIL' ? 'it is not an address of this machine' : messageOf(error)
  return failures.host_unusable({ host: address.host, problem }, { cause: error })
}
