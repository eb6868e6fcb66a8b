import { dirname } from 'node:path'
import { DOOR_PORT } from '../enclosure.ts'
import { SYSTEM_ARGUMENTS, systemFolders } from '../sandbox.ts'

/** Folder of the egress proxy's socket inside. */
const SOCKETS = '/run/keelson'
/** The socket's name. */
export const DOOR = 'out'
/** The egress proxy as a tool inside sees it. */
export const INNER_PROXY = `http://127.0.0.1:${DOOR_PORT}`

/** Takes what comes to the proxy's port through the socket, and runs the tool meanwhile. */
const RELAY = `
const net = require('node:net')
const [path, port, program, ...args] = process.argv.slice(1)
const options = { allowHalfOpen: true, noDelay: true }
net.createServer(options, client => {
  const door = net.connect({ path, ...options })
  for (const [from, to] of [[client, door], [door, client]]) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroySoon())
    from.pipe(to)
  }
}).listen(Number(port), '127.0.0.1', () => {
  const tool = require('node:child_process').spawn(program, args, { stdio: 'inherit' })
  tool.on('error', error => { console.error(error.message); process.exit(127) })
  tool.on('exit', code => process.exit(code ?? 1))
})
`

export interface Enclosed {
  readonly bubblewrap: { readonly program: string; readonly hardening: readonly string[] }
  readonly cwd: string
  /** Folders that the tool can write. */
  readonly writes: readonly string[]
  /** Files and folders beside the system's that it can read. */
  readonly reads: readonly string[]
  /** Folder with the proxy's socket; absent: the tool shares this host's network. */
  readonly sockets: string | undefined
}

/** The command line that runs an installing tool inside bubblewrap. */
export async function enclosedCommand(command: readonly string[], options: Enclosed): Promise<string[]> {
  const { bubblewrap, cwd, writes, reads, sockets } = options
  const shown = [...new Set([dirname(process.execPath), ...reads])].filter(path => !isSystem(path))
  const relayed = [process.execPath, '-e', RELAY, '--', `${SOCKETS}/${DOOR}`, String(DOOR_PORT), ...command]
  return [
    bubblewrap.program,
    ...(await systemFolders()),
    ...SYSTEM_ARGUMENTS,
    ...bubblewrap.hardening,
    ...shown.flatMap(path => ['--ro-bind-try', path, path]),
    ...writes.flatMap(path => ['--bind', path, path]),
    ...(sockets === undefined ? [] : ['--unshare-net', '--ro-bind', sockets, SOCKETS]),
    '--die-with-parent',
    '--new-session', // no terminal to type into
    '--remount-ro',
    '/',
    '--chdir',
    cwd,
    '--',
    ...(sockets === undefined ? command : relayed),
  ]
}

const isSystem = (path: string): boolean => path === '/usr' || path.startsWith('/usr/')
