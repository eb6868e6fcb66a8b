import { dirname } from 'node:path'
import { isSystemPath, SYSTEM_ARGUMENTS, systemFolders } from '../sandbox.ts'
import { EGRESS_PORT } from '../sandbox-network.ts'
import { SOCKETS, withJoinSockets } from '../starter.ts'

/** Name of the egress proxy's socket in the socket folder. */
export const PROXY_SOCKET = 'out'
/** Address of the egress proxy as seen inside the sandbox. */
export const INNER_PROXY = `http://127.0.0.1:${EGRESS_PORT}`

const RELAY = withJoinSockets('run-with-proxy.cjs')

/** What a tool may use inside bubblewrap. */
export interface ToolSandbox {
  readonly bubblewrap: { readonly program: string; readonly hardening: readonly string[] }
  readonly cwd: string
  /** Folders that the tool can write. */
  readonly writes: readonly string[]
  /** Files and folders that it can read in addition to the system's. */
  readonly reads: readonly string[]
  /** Folder with the proxy's socket; absent: the tool shares this host's network. */
  readonly sockets: string | undefined
}

/** Returns the command line that runs a package tool inside bubblewrap. */
export async function sandboxedTool(command: readonly string[], options: ToolSandbox): Promise<string[]> {
  const { bubblewrap, cwd, writes, reads, sockets } = options
  const shown = [...new Set([dirname(process.execPath), ...reads])].filter(path => !isSystemPath(path))
  const relayed = [
    process.execPath,
    '-e',
    RELAY,
    '--',
    `${SOCKETS}/${PROXY_SOCKET}`,
    String(EGRESS_PORT),
    ...command,
  ]
  return [
    bubblewrap.program,
    ...(await systemFolders()),
    ...SYSTEM_ARGUMENTS,
    ...bubblewrap.hardening,
    ...shown.flatMap(path => ['--ro-bind-try', path, path]),
    ...writes.flatMap(path => ['--bind', path, path]),
    ...(sockets === undefined ? [] : ['--unshare-net', '--ro-bind', sockets, SOCKETS]),
    '--die-with-parent',
    '--new-session', // it cannot type into our terminal
    '--remount-ro',
    '/',
    '--chdir',
    cwd,
    '--',
    ...(sockets === undefined ? command : relayed),
  ]
}
