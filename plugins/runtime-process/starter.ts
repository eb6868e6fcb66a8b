import { DOOR_PORT } from './enclosure.ts'

/** Where a sandbox finds its sockets. */
export const SOCKETS = '/run/keelson'

/** File descriptor with the starter's order. */
export const ORDER_FD = 4
/** open(2). */
const O_CLOEXEC = 0o2000000

/** File descriptor with bubblewrap's seccomp filter. */
export const SECCOMP_FD = 5

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

/**
 * Becomes the server: number and streams stay, the environment is the order's. If the order has an agent,
 * it is started before and waited for until it listens. Files that whoever started us left open for its
 * children are closed: they are no business of the server's.
 */
const STARTER = `
const fs = require('node:fs')
const { command, env, agent } = JSON.parse(fs.readFileSync(${ORDER_FD}, 'utf8'))
fs.closeSync(${ORDER_FD})
const open = fs.existsSync('/proc/self/fdinfo') ? fs.readdirSync('/proc/self/fdinfo').map(Number) : []
for (const fd of open.filter(fd => fd > 2)) try {
  const flags = /flags:\\s*(\\d+)/.exec(fs.readFileSync('/proc/self/fdinfo/' + fd, 'utf8'))
  if (!(parseInt(flags[1], 8) & ${O_CLOEXEC})) fs.closeSync(fd)
} catch {}
const become = () => process.execve(command[0], command, env)
if (agent) {
  const child = require('node:child_process').spawn(process.execPath, agent, {
    env: {}, stdio: ['ignore', 'pipe', 'ignore'],
  })
  child.once('exit', () => process.exit(1))
  child.stdout.once('data', become)
} else become()
`

/**
 * Runs where the server will run, in the sandbox if there is one, and reads from a file descriptor what to
 * become. So the server's variables, which a stranger may have chosen (LD_PRELOAD, NODE_OPTIONS), act on the
 * server alone and on no program before it, and their values stand in nobody's arguments.
 */
export const starterCommand = (): string[] => [process.execPath, '--no-warnings', '-e', STARTER]

/** What the starter reads. An agent serves an instance without a network, by these ports. */
export function orderOf(options: {
  command: readonly string[]
  env: Readonly<Record<string, string>>
  agentFor?: readonly number[] | undefined
}): string {
  const { command, env, agentFor } = options
  const agent = agentFor && [
    '--no-warnings',
    '--max-old-space-size=24',
    '-e',
    AGENT,
    SOCKETS,
    String(DOOR_PORT),
    ...new Set(agentFor.map(String)),
  ]
  return JSON.stringify({ command, env, agent })
}
