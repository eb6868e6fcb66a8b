import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'

const LOOPBACK = '127.0.0.1'

/**
 * The same bytes as a socket of the system's: Node's HTTP/2 over a stream of its own fails an assertion
 * when a session ends while something is being written, and takes the process along.
 */
export async function toSocket(streams: { readable: Readable; writable: Writable }): Promise<Socket> {
  const { readable, writable } = streams
  const server = createServer({ noDelay: true })
  server.listen(0, LOOPBACK)
  await once(server, 'listening')
  const mine = connect({ host: LOOPBACK, port: (server.address() as AddressInfo).port, noDelay: true })
  const other = await new Promise<Socket>((resolve, reject) => {
    mine.once('error', reject)
    server.on('connection', async socket => {
      if (mine.connecting) await once(mine, 'connect')
      // Any program of this machine can connect; only ours has the port of our own socket.
      if (socket.remotePort === mine.localPort) resolve(socket)
      else socket.destroy()
    })
  }).finally(() => server.close())
  const end = () => {
    for (const stream of [mine, other, readable, writable]) stream.destroy()
  }
  for (const stream of [mine, other, readable, writable]) stream.once('error', end).once('close', end)
  readable.pipe(other).pipe(writable)
  return mine
}
