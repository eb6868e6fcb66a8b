import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { processIdentity } from '../../src/lib/process-identity.ts'
import { ORDER_FD, SECCOMP_FD } from './starter.ts'

const GATE_FD = 3

/**
 * Waits to be told to begin. Between starting a process and writing down that we did, we may be killed;
 * then the pipe closes without a line, and nothing was started. Number and start time of the process stay.
 */
const GATE = `read -r go <&${GATE_FD} || exit 1; exec ${GATE_FD}<&-; exec "$@"`

export interface Launch {
  /** The program comes first, with its absolute path. It runs on this host, so its arguments are ours alone. */
  readonly command: readonly string[]
  /** Of that program: nothing of the instance's own, which it gets in the order. */
  readonly env: Readonly<Record<string, string>>
  /** What the starter reads; see `orderOf`. */
  readonly order: string
  /** What bubblewrap reads. */
  readonly seccomp?: Buffer | undefined
  readonly cwd: string
  /** Standard input, output and error: pipes, or a file that takes both outputs. */
  readonly streams: 'pipes' | { readonly file: number }
  /** Writes the process down, and limits it, before it begins. */
  readonly record: (identity: string, pid: number) => Promise<void>
}

export interface Launched {
  readonly child: ChildProcess
  readonly identity: string
}

/** Starts a program as the leader of a session and process group of its own. */
export async function launch(options: Launch): Promise<Launched> {
  const { command, env, order, seccomp, cwd, streams, record } = options
  const [input, output] =
    streams === 'pipes' ? (['pipe', 'pipe'] as const) : (['ignore', streams.file] as const)
  const child = spawn('/bin/sh', ['-c', GATE, 'sh', ...command], {
    cwd,
    env,
    detached: true,
    stdio: [input, output, output, 'pipe', 'pipe', seccomp ? 'pipe' : 'ignore'],
  })
  const pipe = (fd: number) => {
    const end = child.stdio[fd] as Writable
    end.on('error', () => undefined) // it died waiting; its exit tells
    return end
  }
  const gate = pipe(GATE_FD)
  pipe(ORDER_FD).end(order)
  if (seccomp) pipe(SECCOMP_FD).end(seccomp)
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const identity = processIdentity(pid)
  try {
    if (!identity) throw new Error('it ended at once')
    await record(identity, pid)
  } catch (error) {
    gate.destroy() // closed without a line: the gate ends
    throw error
  }
  gate.end('go\n')
  return { child, identity }
}
