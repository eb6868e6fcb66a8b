import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'
import { main } from '../../support/main.ts'

/** `keelson proxy …`, running until the test ends. */
export interface RunningCommand {
  /** The first line of its standard output. */
  readonly url: string
  /** What it wrote to standard error. */
  readonly said: () => string
  readonly pid: number
  /** Ends it with a signal; returns its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>
  /** Resolves with its exit code. */
  readonly exited: Promise<number | null>
}

/** Starts the command and waits for the first line; fails with what it said when it ends before. */
export async function startCommand(
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<RunningCommand> {
  const { env, home } = await keelsonUser()
  const child = spawn(process.execPath, ['--', main, 'proxy', ...args], {
    env: { ...env, ...more },
    cwd: home,
  })
  let errors = ''
  child.stderr.on('data', chunk => {
    errors += chunk
  })
  const exited = once(child, 'close').then(() => child.exitCode)
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    return exited
  }
  onTestFinished(async () => void (await end()))
  const first = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line))
  const ended = exited.then(code => {
    throw new Error(`it ended with ${code}: ${errors}`)
  })
  ended.catch(() => undefined)
  return { url: await Promise.race([first, ended]), said: () => errors, pid: child.pid ?? 0, end, exited }
}
