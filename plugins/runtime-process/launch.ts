import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { processIdentity } from '../../src/lib/process-identity.ts'

/**
 * Waits to be told what to become. Between starting a process and writing down that we did, we may
 * be killed; then the pipe closes without a line, and nothing was started. Number and start time of
 * the process stay the same. A shell would not do: it drops variables whose names it cannot spell.
 */
const GATE = `
const fs = require('node:fs')
const line = fs.readFileSync(3, 'utf8')
if (!line.endsWith('\\n')) process.exit(1)
const { command, env } = JSON.parse(line)
fs.closeSync(3)
process.execve(command[0], command, env)
`

export interface Launch {
  /** The program comes first, with its absolute path. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Standard input, output and error: pipes, or a file that takes both outputs. */
  readonly streams: 'pipes' | { readonly file: number }
  /** Writes the process down before it begins. */
  readonly record: (identity: string) => Promise<void>
}

export interface Launched {
  readonly child: ChildProcess
  readonly identity: string
}

/** Starts a program as the leader of a session and process group of its own. */
export async function launch({ command, env, cwd, streams, record }: Launch): Promise<Launched> {
  const [input, output] =
    streams === 'pipes' ? (['pipe', 'pipe'] as const) : (['ignore', streams.file] as const)
  const child = spawn(process.execPath, ['--no-warnings', '-e', GATE], {
    cwd,
    env: {},
    detached: true,
    stdio: [input, output, output, 'pipe'],
  })
  const gate = child.stdio[3] as Writable
  gate.on('error', () => undefined) // it died waiting; its exit tells
  await once(child, 'spawn')
  const identity = processIdentity(child.pid ?? 0)
  try {
    if (!identity) throw new Error('it ended at once')
    await record(identity)
  } catch (error) {
    gate.destroy() // closed without a line: the gate ends
    throw error
  }
  gate.end(`${JSON.stringify({ command, env })}\n`)
  return { child, identity }
}
