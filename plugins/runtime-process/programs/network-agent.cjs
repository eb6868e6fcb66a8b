/*
 * Runs beside the server in a sandbox without a network, and starts it: one boot of Node serves both. Connections to the
 * proxy's port on loopback go through a socket file to the egress proxy. For connections that the host opens to the
 * server, the agent keeps a few connections to the host's socket file of each port ready. It has no more rights than the
 * server, and ends as the server does.
 */
const net = require('node:net')
const { spawn } = require('node:child_process')
const { closeSync, openSync } = require('node:fs')
const [folder, egressPort, ...ports] = process.argv.slice(1)
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP']
for (const signal of SIGNALS) process.on(signal, () => {}) // the server gets them as well
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
const startServer = () => {
  const { command, env } = globalThis.input
  const server = spawn(command[0], command.slice(1), { env, stdio: 'inherit' })
  server.once('error', error => {
    throw error
  })
  if (server.pid === undefined) return
  // The streams are the server's: when it closes one, the other side has to see its end.
  for (const fd of [0, 1, 2]) closeSync(fd)
  for (const mode of ['r', 'w', 'w']) openSync('/dev/null', mode)
  server.once('exit', (code, signal) => {
    if (!signal) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
net
  .createServer(options, client =>
    globalThis.joinSockets(client, net.connect({ path: `${folder}/out`, ...options })),
  )
  .listen(Number(egressPort), '127.0.0.1', () => {
    for (const port of ports) for (let i = 0; i < 4; i++) offer(port)
    startServer()
  })
