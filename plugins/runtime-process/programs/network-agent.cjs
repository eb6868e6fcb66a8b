/*
 * Runs beside the server in a sandbox without a network. Connections to the proxy's port on loopback go through
 * a socket file to the egress proxy. For connections that the host opens to the server, the agent keeps a few
 * connections to the host's socket file of each port ready. It has no more rights than the server.
 */
const net = require('node:net')
const [folder, egressPort, ...ports] = process.argv.slice(1)
process.on('SIGTERM', () => {})
const options = { allowHalfOpen: true, noDelay: true }
const offer = port => {
  const socket = net.connect({ path: `${folder}/${port}`, ...options })
  let used = false
  socket.once('data', first => {
    used = true
    offer(port)
    const server = net.connect({ port: Number(port), host: '127.0.0.1', ...options })
    server.write(first)
    globalThis.joinSockets(socket, server)
  })
  socket.on('error', () => socket.destroy())
  socket.once('end', () => used || socket.destroy())
  socket.once('close', () => used || setTimeout(offer, 100, port))
}
net
  .createServer(options, client =>
    globalThis.joinSockets(client, net.connect({ path: `${folder}/out`, ...options })),
  )
  .listen(Number(egressPort), '127.0.0.1', () => {
    for (const port of ports) for (let i = 0; i < 4; i++) offer(port)
    process.stdout.end('up')
  })
