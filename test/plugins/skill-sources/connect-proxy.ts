import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { onTestFinished } from 'vitest'

/** An HTTP proxy that leads everything to one server, and notes what it was asked. */
export async function proxyTo(url: string, status = 200) {
  const asked: { target: string; login: string | undefined }[] = []
  const server = createServer()
  const sockets: Duplex[] = []
  server.on('connect', (request, socket) => {
    sockets.push(socket)
    asked.push({ target: request.url ?? '', login: request.headers['proxy-authorization'] })
    socket.write(`HTTP/1.1 ${status} x\r\n\r\n`)
    if (status !== 200) return
    const upstream = connect(Number(new URL(url).port), '127.0.0.1')
    socket.pipe(upstream).pipe(socket)
    for (const one of [socket, upstream]) one.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const via = new URL(`http://me:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}`)
  return { via, asked }
}
