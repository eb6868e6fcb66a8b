import { DOOR_PORT } from './enclosure.ts'

/** Where a sandbox finds its sockets. */
export const SOCKETS = '/run/keelson'

/**
 * Runs beside the server in a sandbox without a network: what connects to the proxy's port on loopback
 * goes through a socket to the egress proxy, and connections that this host asks for come in by
 * callbacks, of which a few are held ready for each port. It has no more rights than the server.
 */
const AGENT = `
const net = require('node:net')
const [folder, door, ...ports] = process.argv.slice(1)
process.on('SIGTERM', () => {})
const join = (a, b) => {
  for (const [from, to] of [[a, b], [b, a]]) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroySoon())
    from.pipe(to)
  }
}
const options = { allowHalfOpen: true, noDelay: true }
const offer = port => {
  const socket = net.connect({ path: folder + '/' + port, ...options })
  let used = false
  socket.once('data', first => {
    used = true
    offer(port)
    const server = net.connect({ port: Number(port), host: '127.0.0.1', ...options })
    server.write(first)
    join(socket, server)
  })
  socket.on('error', () => socket.destroy())
  socket.once('end', () => used || socket.destroy())
  socket.once('close', () => used || setTimeout(offer, 100, port))
}
net.createServer(options, client => join(client, net.connect({ path: folder + '/out', ...options })))
  .listen(Number(door), '127.0.0.1', () => {
    for (const port of ports) for (let i = 0; i < 4; i++) offer(port)
    process.stdout.end('up')
  })
`

/** Starts the agent, waits until it listens, and becomes the server: number, streams and environment stay. */
const LAUNCH = `
const { spawn } = require('node:child_process')
const [agent, folder, door, ports, ...command] = process.argv.slice(1)
const args = ['--no-warnings', '--max-old-space-size=24', '-e', agent, folder, door]
const child = spawn(process.execPath, [...args, ...ports.split(',').filter(Boolean)], {
  env: {}, stdio: ['ignore', 'pipe', 'ignore'],
})
child.once('exit', () => process.exit(1))
child.stdout.once('data', () => process.execve(command[0], command, process.env))
`

/** The command that runs another one behind an agent, inside the sandbox. */
export const withAgent = (command: readonly string[], ports: readonly number[]): string[] => [
  process.execPath,
  '--no-warnings',
  '-e',
  LAUNCH,
  '--',
  AGENT,
  SOCKETS,
  String(DOOR_PORT),
  [...new Set(ports)].join(','),
  ...command,
]
