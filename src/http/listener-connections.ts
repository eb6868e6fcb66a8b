import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const SWEEP_MS = 100

/** The connections of a listener, for its end. */
export interface ListenerConnections {
  /**
   * Stops listening, then starts `also`. Resolves when both are done and every connection has ended, or with
   * `over`. Idle connections are ended at once, again and again.
   */
  close(options: { also: () => Promise<unknown>; over: Promise<void> }): Promise<void>
}

/**
 * Follows connections that carried no request yet, as browsers open them ahead: to Node these are not idle, so
 * `closeIdleConnections` leaves them open.
 */
export function followConnections(listener: Server): ListenerConnections {
  const unused = new Set<Socket>()
  listener.on('connection', socket => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  listener.on('request', request => unused.delete(request.socket))
  return {
    async close({ also, over }) {
      const unheard = new Promise<void>(resolve => listener.close(() => resolve()))
      const closed = Promise.all([unheard, also()])
      // Connections that were busy when the end began would be kept for their next request.
      const sweep = setInterval(() => {
        listener.closeIdleConnections()
        for (const socket of unused) socket.destroy()
      }, SWEEP_MS)
      await Promise.race([closed, over])
      clearInterval(sweep)
    },
  }
}
