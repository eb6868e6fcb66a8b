import { chmod, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Opens a connection to the server. */
export type Connector = () => Promise<Duplex>

/** A listener whose connections go on to a server. */
export interface PortRelay {
  readonly port: number
  close(): Promise<void>
}

/** Forwards every connection at an address of this machine to the server that `open` connects to. */
export async function createPortRelay(
  listen: { host: string; port: number },
  open: Connector,
): Promise<PortRelay> {
  const sockets = new Set<Duplex>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, client => {
    track(sockets, client)
    open().then(
      target => {
        track(sockets, target)
        join(client, target)
      },
      () => client.destroy(),
    )
  })
  await listening(server, () => server.listen({ ...listen, exclusive: true }))
  return {
    port: (server.address() as AddressInfo).port,
    close: () => closeServer(server, sockets),
  }
}

export const connectorTo =
  (host: string, port: number): Connector =>
  () =>
    new Promise((resolve, reject) => {
      const socket = connect({ host, port, allowHalfOpen: true, noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(socket)
      })
    })

/** Connections that the server has opened to this process, used when one is needed. */
export interface CallbackPool {
  readonly open: Connector
  close(): Promise<void>
}

/** Further idle connections are closed. */
const MOST_IDLE = 32
const WAIT_MS = 10_000

/**
 * Listens at a socket file for connections that wait to be used. Only the owner may use the file; an
 * existing file was left by an earlier host, which has ended.
 */
export async function createCallbackPool(path: string): Promise<CallbackPool> {
  const sockets = new Set<Socket>()
  const idle: Socket[] = []
  const waiting: ((socket: Socket) => void)[] = []
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, socket => {
    track(sockets, socket)
    const waiter = waiting.shift()
    if (waiter) return waiter(socket)
    if (idle.length >= MOST_IDLE) return void socket.destroy()
    idle.push(socket)
    socket.once('close', () => {
      const at = idle.indexOf(socket)
      if (at >= 0) idle.splice(at, 1)
    })
  })
  await rm(path, { force: true })
  await listening(server, () => server.listen(path))
  await chmod(path, 0o600)
  return {
    open: () =>
      new Promise((resolve, reject) => {
        const socket = idle.shift()
        if (socket) return resolve(socket)
        const take = (late: Socket) => {
          clearTimeout(timer)
          resolve(late)
        }
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(take), 1)
          reject(new Error('the server has no connection to spare'))
        }, WAIT_MS)
        waiting.push(take)
      }),
    close: () => closeServer(server, sockets),
  }
}

function join(a: Duplex, b: Duplex): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.pipe(to)
    from.once('error', () => to.destroy())
    from.once('close', () => endSoon(to))
  }
}

/** Ends the stream after pending data is delivered. */
function endSoon(stream: Duplex): void {
  if (stream.writableFinished) return void stream.destroy()
  stream.once('finish', () => stream.destroy())
  stream.end()
}

function track<T extends Duplex>(sockets: Set<T>, socket: T): void {
  sockets.add(socket)
  socket.on('error', () => undefined)
  socket.once('close', () => sockets.delete(socket))
}

const listening = (server: Server, begin: () => void): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', () => {
      server.off('error', reject)
      resolve()
    })
    begin()
  })

function closeServer(server: Server, sockets: ReadonlySet<Duplex>): Promise<void> {
  for (const socket of sockets) socket.destroy()
  return new Promise(resolve => server.close(() => resolve()))
}
