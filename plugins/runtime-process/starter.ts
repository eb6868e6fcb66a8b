import { EGRESS_PORT } from './sandbox-network.ts'

/** Folder of the sockets inside a sandbox. */
export const SOCKETS = '/run/keelson'

/** File descriptor that the starter reads its input from. */
export const STARTER_INPUT_FD = 4
/** open(2). */
const O_CLOEXEC = 0o2000000

/** File descriptor that bubblewrap reads the seccomp filter from. */
export const SECCOMP_FD = 5

/** Program text: `join(a, b)` forwards bytes between two sockets in both directions. */
export const PIPE_BOTH_WAYS = `
const join = (a, b) => {
  for (const [from, to] of [[a, b], [b, a]]) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroySoon())
    from.pipe(to)
  }
}
`

/**
 * Runs beside the server in a sandbox without a network: what connects to the proxy's port on loopback
 * goes through a socket to the egress proxy, and connections that this host asks for come in by
 * callbacks, of which a few are held ready for each port. It has no more rights than the server.
 */
const AGENT = `
const net = require('node:net')
const [folder, egressPort, ...ports] = process.argv.slice(1)
process.on('SIGTERM', () => {})
${PIPE_BOTH_WAYS}const options = { allowHalfOpen: true, noDelay: true }
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
  .listen(Number(egressPort), '127.0.0.1', () => {
    for (const port of ports) for (let i = 0; i < 4; i++) offer(port)
    process.stdout.end('up')
  })
`

/**
 * Becomes the server: process id and streams stay, and the environment comes from its input. If the input names
 * an agent, it is started first, and the server waits until it listens. Files that our parent left open for its
 * children are closed, since the server must not use them.
 */
const STARTER = `
const fs = require('node:fs')
const { command, env, agent } = JSON.parse(fs.readFileSync(${STARTER_INPUT_FD}, 'utf8'))
fs.closeSync(${STARTER_INPUT_FD})
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
 * Runs where the server will run, inside the sandbox if there is one, and reads command and variables from a file
 * descriptor. So variables that a stranger may have chosen (LD_PRELOAD, NODE_OPTIONS) affect the server and no
 * program before it, and their values never appear in arguments.
 */
export const starterCommand = (): string[] => [process.execPath, '--no-warnings', '-e', STARTER]

/** Returns what the starter reads. `agentFor`: ports of an instance without a network, which needs an agent. */
export function starterInput(options: {
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
    String(EGRESS_PORT),
    ...new Set(agentFor.map(String)),
  ]
  return JSON.stringify({ command, env, agent })
}
