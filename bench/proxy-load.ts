// Loads a URL with POSTs of 1 KB: `node proxy-load.ts URL CONNECTIONS SECONDS`. Prints figures as JSON.
//
// Raw sockets, because the load must not take the core that the proxy is measured on: every answer has the
// length of the first, so that counting bytes is counting answers.
import { connect } from 'node:net'

const [target = '', connections = '1', duration = '1'] = process.argv.slice(2)
const url = new URL(target)
const body = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo', arguments: { message: 'x'.repeat(930) } },
})
const request = Buffer.from(
  `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAccept: application/json, text/event-stream\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
)
const times: number[] = []
let failed = 0

function open(): { end(): void } {
  const socket = connect(Number(url.port), url.hostname).setNoDelay()
  let length = 0
  let received = 0
  let head = ''
  let began = performance.now()
  socket.on('connect', () => socket.write(request))
  socket.on('error', () => failed++)
  socket.on('data', chunk => {
    if (length === 0) {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      const announced = /content-length: (\d+)/i.exec(head)?.[1]
      if (end < 0 || announced === undefined) return
      if (!head.startsWith('HTTP/1.1 200 ')) failed++
      length = end + 4 + Number(announced)
      received = head.length
    } else {
      received += chunk.length
    }
    if (received < length) return
    if (received > length) failed++
    received = 0
    const now = performance.now()
    times.push(now - began)
    began = now
    socket.write(request)
  })
  return {
    end: () =>
      socket
        .removeAllListeners('error')
        .on('error', () => {})
        .destroy(),
  }
}

const began = performance.now()
const sockets = Array.from({ length: Number(connections) }, open)
setTimeout(() => {
  const seconds = (performance.now() - began) / 1000
  for (const socket of sockets) socket.end()
  times.sort((a, b) => a - b)
  const figures = {
    requestsPerSecond: times.length / seconds,
    p50: times[times.length >> 1] ?? 0,
    total: times.length,
    failed,
  }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}, Number(duration) * 1000)
