import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { freePort } from '../free-port.ts'

/** A server program that runs as a process of its own and listens on a port. */
export interface RunningServer {
  readonly port: number
  readonly origin: string
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>
}

const everything = new URL(
  '../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  import.meta.url,
).pathname

/** Starts a program, of Node unless another one runs it, that listens on `PORT`; resolves when it accepts connections. */
export async function startServer(
  args: readonly string[],
  options: { port?: number; env?: Record<string, string>; program?: string } = {},
): Promise<RunningServer> {
  const port = options.port ?? (await freePort())
  const child = spawn(options.program ?? process.execPath, args, {
    env: { PATH: process.env.PATH ?? '', PORT: String(port), ...options.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', chunk => {
    errors = (errors + chunk).slice(-4000)
  })
  const kill = () => end(child)
  const deadline = Date.now() + 20_000
  // Servers tell in ways of their own that they listen; that they accept connections holds for all of them.
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await kill()
      throw new Error(`${args.join(' ')} does not listen on ${port}: ${errors}`)
    }
    await new Promise(resolve => setTimeout(resolve, 25))
  }
  return { port, origin: `http://127.0.0.1:${port}`, kill }
}

/** To listen on the port for a moment, in order to see whether it is free, could keep the server from it. */
const accepts = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

/** The official reference server, which uses every feature of MCP. */
export const startEverything = (
  mode: 'streamableHttp' | 'sse',
  options: { port?: number } = {},
): Promise<RunningServer> => startServer([everything, mode], options)

/** A program of `fixtures/`. */
export const startFixture = (
  name: string,
  options: { port?: number; env?: Record<string, string> } = {},
): Promise<RunningServer> =>
  startServer([new URL(`../../../fixtures/${name}`, import.meta.url).pathname], options)

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
