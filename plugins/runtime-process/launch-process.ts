import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { processIdentity } from '../../src/lib/process-identity.ts'
import { programText } from '../../src/lib/program-text.ts'
import { SECCOMP_FD, STARTER_INPUT_FD } from './starter.ts'

const GATE_FD = 3

const GATE = programText('plugins/runtime-process/programs/wait-for-record.sh', { GATE_FD: String(GATE_FD) })

export interface Launch {
  /** The program comes first, with its absolute path. It runs on the host, so none of its arguments come from the instance. */
  readonly command: readonly string[]
  /** Environment of that program. The instance's own variables are in `input`. */
  readonly env: Readonly<Record<string, string>>
  /** What the starter reads; see `starterInput`. */
  readonly input: string
  /** The seccomp filter for bubblewrap. */
  readonly seccomp?: Buffer | undefined
  readonly cwd: string
  /** Standard input, output and error: pipes, or a file that takes both outputs. */
  readonly streams: 'pipes' | { readonly file: number }
  /** Records the process and limits it before it starts. */
  readonly record: (identity: string, pid: number) => Promise<void>
}

export interface Launched {
  readonly child: ChildProcess
  readonly identity: string
}

/** Starts a program as the leader of a session and process group of its own. */
export async function launch(options: Launch): Promise<Launched> {
  const { command, env, input, seccomp, cwd, streams, record } = options
  const [stdin, output] =
    streams === 'pipes' ? (['pipe', 'pipe'] as const) : (['ignore', streams.file] as const)
  const child = spawn('/bin/sh', ['-c', GATE, 'sh', ...command], {
    cwd,
    env,
    detached: true,
    stdio: [stdin, output, output, 'pipe', 'pipe', seccomp ? 'pipe' : 'ignore'],
  })
  const pipe = (fd: number) => {
    const end = child.stdio[fd] as Writable
    end.on('error', () => undefined) // it died while waiting; its exit is reported
    return end
  }
  const gate = pipe(GATE_FD)
  pipe(STARTER_INPUT_FD).end(input)
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
