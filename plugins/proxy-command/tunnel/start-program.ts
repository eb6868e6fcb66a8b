import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** A program that runs for as long as a tunnel is open. */
export interface TunnelProgram {
  /** Resolves with how it ended: its exit code or signal, or why it could not be started. */
  readonly ended: Promise<string>
  /** Ends it: SIGTERM, and SIGKILL after two seconds. */
  stop(): Promise<void>
}

const KILL_MS = 2000

/** Starts a program. Each line that it writes goes to `onLine`. */
export function startProgram(
  [program, ...args]: readonly [string, ...string[]],
  { env, onLine }: { env: Readonly<Record<string, string>>; onLine: (line: string) => void },
): TunnelProgram {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine)
  const ended = new Promise<string>(resolve => {
    child.once('error', error =>
      resolve('code' in error && error.code === 'ENOENT' ? 'it is not installed' : error.message),
    )
    // After `close` all of its lines have been read.
    child.once('close', (code, signal) => resolve(signal ? `it was ended by ${signal}` : `exit code ${code}`))
  })
  return {
    ended,
    async stop() {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), KILL_MS)
      await ended
      clearTimeout(late)
    },
  }
}
