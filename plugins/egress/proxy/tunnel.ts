import type { Socket } from 'node:net'
import type { EgressLimits } from './egress-limits.ts'
import type { Receiver } from './receiver.ts'

const SWITCHED = 'HTTP/1.1 200 Connection Established\r\n\r\n'

/**
 * Joins two sockets until both directions have ended, one of them breaks, or no byte passes for too
 * long. `early` is what the client sent after its CONNECT; `receiver` is that of the server's socket.
 */
export function joinSockets(
  client: Socket,
  server: Socket,
  { early, receiver }: { early: Buffer; receiver: Receiver },
  { idleMs, halfOpenMs }: Pick<EgressLimits, 'idleMs' | 'halfOpenMs'>,
): void {
  const tearDown = () => {
    client.destroy()
    server.destroy()
  }
  for (const [socket, other] of [
    [client, server],
    [server, client],
  ] as const) {
    socket.on('error', tearDown)
    socket.on('end', () => server.setTimeout(halfOpenMs))
    socket.on('close', () => {
      // Data already received is still delivered, if the other end accepts it.
      other.setTimeout(halfOpenMs, tearDown)
      other.destroySoon()
    })
  }
  // All data passes through this socket, so its timeout is the tunnel's.
  client.setTimeout(0)
  server.setTimeout(idleMs, tearDown)

  client.setNoDelay(true)
  client.write(SWITCHED)
  if (early.length) server.write(early)
  client.pipe(server)
  receiver.connect(server, client)
}
