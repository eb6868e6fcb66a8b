// The least that a proxy to the URL given has to do: a listener, a pool of connections and streams of bytes. Prints its port.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

const pool = new Pool(process.argv[2] ?? '')
const server = createServer((request, response) => {
  const { method = 'GET', url: path = '/', headers } = request
  pool.stream(
    { method: method as 'POST', path, headers, body: request },
    ({ statusCode, headers }) => response.writeHead(statusCode, headers as Record<string, string>),
    () => undefined, // the load closes its connections in the middle of a request
  )
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
