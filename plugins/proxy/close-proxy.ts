import type { Server } from 'node:http'
import type { Middleware } from '../../src/contracts/pipeline.ts'
import type { Forwarder } from './forwarder.ts'
import type { InFlight } from './in-flight.ts'
import type { LocalConnections } from './local-connections.ts'

/** Time for responses to reach clients before their connections are cut. */
const FLUSH_MS = 500
/** Time for middlewares to send what is left. */
const LEFT_MS = 3000

/** Closes a proxy. What is in flight has `graceMs` (milliseconds) to finish. */
export async function closeProxy(
  parts: {
    server: Server
    local: Pick<LocalConnections, 'close'>
    inFlight: InFlight
    forwarder: Forwarder
    middlewares: readonly Middleware[]
  },
  graceMs: number,
): Promise<void> {
  const { server, local, inFlight, forwarder, middlewares } = parts
  const left = Promise.allSettled(middlewares.map(middleware => middleware.close?.()))
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  server.closeIdleConnections()
  await firstOf(graceMs, inFlight.idle())
  await forwarder.close()
  server.closeIdleConnections()
  await firstOf(FLUSH_MS, closed)
  server.closeAllConnections()
  local.close()
  await closed
  await firstOf(
    LEFT_MS,
    left.then(() => {}),
  )
}

async function firstOf(ms: number, event: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([event, new Promise<void>(resolve => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}
