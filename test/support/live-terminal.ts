import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { main } from './main.ts'

/** The program on a pseudo-terminal, with a person who reads before typing. */
export interface LiveTerminal {
  /** Resolves with the screen once it shows the text behind what was seen before. */
  sees(text: string): Promise<string>
  /** `\\r` is the return key, `\\u0003` an interrupt. */
  type(text: string): void
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>
}

const DRIVER = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'
const PATIENCE_MS = 60_000

export function liveTerminal(
  at: { readonly path: string; readonly env: Readonly<Record<string, string>> },
  args: readonly string[],
): LiveTerminal {
  const command = [process.execPath, '--', main, ...args]
  const child = spawn('python3', ['-c', DRIVER, ...command], {
    cwd: at.path,
    env: { TERM: 'dumb', ...at.env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let screen = ''
  let seen = 0
  child.stdout.on('data', chunk => {
    screen += chunk
  })
  const ended = once(child, 'close').then(() => child.exitCode)
  return {
    ended,
    async sees(text) {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      while (!screen.includes(text, seen)) {
        const isOver = child.stdout.readableEnded
        if (isOver || signal.aborted) throw new Error(`"${text}" is not on the screen:\n${screen}`)
        await Promise.race([once(child.stdout, 'data', { signal }), ended]).catch(() => undefined)
      }
      seen = screen.indexOf(text, seen) + text.length
      return screen
    },
    type: text => void child.stdin.write(text),
  }
}
