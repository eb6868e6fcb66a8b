import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { LocalProxy } from '../../src/contracts/pipeline.ts'

/** Connections that this process has opened to its own proxy. Nobody else can open one. */
export interface LocalConnections extends LocalProxy {
  has(request: IncomingMessage): boolean
  /** Who sends a request; undefined: the user of this machine. */
  callerOf(request: IncomingMessage): Caller | undefined
  close(): void
}

/** What limits, logs and audit take for the address of these requests. */
const ADDRESS = { remoteAddress: '127.0.0.1' }

export function createLocalConnections(listener: RequestListener): LocalConnections {
  const server = createServer(listener)
  const callers = new Map<Duplex, () => Caller | undefined>()
  return {
    accept(connection, caller) {
      Object.assign(connection, ADDRESS)
      callers.set(connection, caller)
      connection.once('close', () => callers.delete(connection))
      server.emit('connection', connection)
    },
    has: ({ socket }) => callers.has(socket),
    callerOf: ({ socket }) => callers.get(socket)?.(),
    close() {
      for (const connection of callers.keys()) connection.destroy()
    },
  }
}
