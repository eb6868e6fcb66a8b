import { spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { diagnose, type Subject } from './diagnose.ts'
import type { Dialect } from './dialect.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface CallOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
  /** Added to the environment of the program, not of the container. */
  readonly env?: Env
  /** Standard input. */
  readonly input?: string
  /** An open file that the program inherits as file descriptor 3. */
  readonly file?: number | undefined
  /** Each line of output as it comes. */
  readonly onLine?: ((line: string) => void) | undefined
}

/** A running call whose streams the caller reads. */
export interface OpenCall {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the program has ended; undefined when it was killed or never began. Never rejects. */
  readonly ended: Promise<number | undefined>
  /** At once, without giving it a chance to tell the engine. */
  kill(): void
}

/** One engine's command line. Its program inherits the caller's environment, as a shell would give it. */
export interface EngineCli {
  /** Runs to the end and answers standard output. Fails with what the engine's words mean. */
  run(args: readonly string[], subject: Subject, options?: CallOptions): Promise<string>
  open(args: readonly string[]): OpenCall
}

const SHORT_MS = 30_000

export function createEngineCli({ dialect, env }: { dialect: Dialect; env: Env }): EngineCli {
  // Loaded on first use: most commands never talk to an engine.
  const load = async () => (await import('execa')).execa

  return {
    async run(args, subject, options = {}) {
      const execa = await load()
      const { timeoutMs = SHORT_MS, signal, input, file, onLine } = options
      signal?.throwIfAborted()
      const stdin = input === undefined ? 'ignore' : 'pipe'
      // execa takes any open file here, but its types stop at the number 9.
      const stdio = [stdin, 'pipe', 'pipe', ...(file === undefined ? [] : [file])] as unknown as [
        'pipe',
        'pipe',
        'pipe',
      ]
      const child = execa(dialect.name, [...args], {
        env: { ...env, ...options.env },
        extendEnv: false,
        ...(input === undefined ? {} : { input }),
        stdio,
        timeout: timeoutMs,
        forceKillAfterDelay: 2000,
        reject: false,
        stripFinalNewline: true,
        maxBuffer: 64 * 1024 * 1024,
        ...(signal ? { cancelSignal: signal } : {}),
      })
      if (onLine) void forwardLines(child, onLine)
      const result = await child
      if (!result.failed) return String(result.stdout ?? '')
      signal?.throwIfAborted()
      if (result.timedOut) throw tooSlow(dialect, subject, timeoutMs)
      if (result.exitCode === undefined && result.cause) throw cannotRun(dialect, result.cause)
      throw diagnose(dialect, `${String(result.stdout ?? '')}\n${String(result.stderr ?? '')}`, subject)
    },

    // Not execa: it drops what a program says before somebody listens.
    open(args) {
      const child = spawn(dialect.name, args, {
        env: { ...env },
        // A session of its own: Ctrl-C in a terminal is the caller's to act on, not the program's.
        detached: true,
        stdio: 'pipe',
      })
      const ended = new Promise<number | undefined>(resolve => {
        child.once('exit', code => resolve(code ?? undefined))
        child.once('error', () => resolve(undefined))
      })
      child.stdin.on('error', () => undefined) // the reader is gone; `ended` says so
      const { stdin, stdout, stderr } = child
      return { stdin, stdout, stderr, ended, kill: () => void child.kill('SIGKILL') }
    },
  }
}

async function forwardLines(
  child: { iterable(options: { from: 'all' | 'stdout' | 'stderr' }): AsyncIterable<unknown> },
  onLine: (line: string) => void,
): Promise<void> {
  const forward = async (from: 'stdout' | 'stderr') => {
    for await (const line of child.iterable({ from })) onLine(String(line))
  }
  // The iteration rejects when the call fails; its result tells that better.
  await Promise.allSettled([forward('stdout'), forward('stderr')])
}

function tooSlow(dialect: Dialect, subject: Subject, timeoutMs: number) {
  return runtimeFailures.runtime_unavailable({
    runtime: dialect.name,
    problem: `it did not ${subject.doing} within ${Math.round(timeoutMs / 1000)} seconds.`,
    hint: `See whether \`${dialect.name} ps\` answers; restart the engine if not.`,
  })
}

/** The program could not even be started. */
function cannotRun(dialect: Dialect, cause: unknown) {
  if (isFailure(cause)) return cause
  const runtime = dialect.name
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'ENOENT') {
    return runtimeFailures.runtime_unavailable(
      { runtime, problem: `there is no program "${runtime}" in the PATH.`, hint: dialect.install },
      { cause },
    )
  }
  const problem =
    code === 'E2BIG'
      ? 'arguments and environment are too long for this system.'
      : `it cannot be started: ${messageOf(cause)}`
  return runtimeFailures.runtime_unavailable({ runtime, problem, hint: dialect.install }, { cause })
}
