import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { messageOf } from '../../src/errors.ts'
import { diagnose, type Subject } from './diagnose.ts'
import type { Dialect } from './dialect.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A request of the Docker Engine API that does what arguments of the program do. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Without a version. Names in it are encoded. */
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** Turns the body of the response into what the program prints. */
  readonly print?: (body: string) => string
}

export interface CallOptions {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
  /** Added to the environment of the program, not of the container. */
  readonly env?: Env
  /** An open file as standard input. Podman opens it again, which works for files only. */
  readonly stdin?: number
  /** An open file that the program inherits as file descriptor 3. */
  readonly file?: number | undefined
  /** Does the same as the arguments, where the engine's socket is on this host. */
  readonly api?: ApiRequest | undefined
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
  /** Drops from now on what nobody reads, instead of waiting for a reader. */
  dropUnread(): void
  /** Kills the program at once, before it can tell the engine. */
  kill(): void
}

/** One engine's command line. Its program inherits the caller's environment, as a shell would give it. */
export interface EngineCli {
  /** Runs the program to its end and returns standard output. Fails with what the engine's message means. */
  run(args: readonly string[], subject: Subject, options?: CallOptions): Promise<string>
  open(args: readonly string[]): OpenCall
  /** Opens a stream of lines that lasts until `end`, or until the engine goes away. */
  listen(args: readonly string[], api: ApiRequest): Promise<{ output: Readable; end(): void }>
}

/** How long a call may take by default, in milliseconds. */
export const SHORT_MS = 30_000
const TAIL_LINES = 50

export function createEngineCli(options: {
  dialect: Dialect
  env: Env
  /** Made when it is needed. */
  folder: string
}): EngineCli {
  const { dialect, env, folder } = options
  const place = () => {
    if (!dialect.litters) return {}
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return { cwd: folder }
  }
  // Loaded on first use: most commands call no engine.
  const load = async () => (await import('execa')).execa

  return {
    async run(args, subject, call = {}) {
      const execa = await load()
      const { timeoutMs = SHORT_MS, signal, stdin = 'ignore', file, onLine } = call
      signal?.throwIfAborted()
      if (args.some(argument => argument.includes('\0'))) throw holdsNul(dialect, subject)
      // execa takes any open file here, but its types stop at the number 9.
      const stdio = [stdin, 'pipe', 'pipe', ...(file === undefined ? [] : [file])] as unknown as [
        'pipe',
        'pipe',
        'pipe',
      ]
      const child = execa(dialect.name, [...args], {
        env: { ...env, ...call.env },
        extendEnv: false,
        ...place(),
        stdio,
        timeout: timeoutMs,
        forceKillAfterDelay: 2000,
        reject: false,
        stripFinalNewline: true,
        // A long call may print more than fits in memory; its last lines are enough.
        buffer: onLine === undefined,
        maxBuffer: 64 * 1024 * 1024,
        ...(signal ? { cancelSignal: signal } : {}),
      })
      const tail = onLine ? forwardLines(child, onLine) : undefined
      const result = await child
      if (!result.failed) return String(result.stdout ?? '')
      signal?.throwIfAborted()
      if (result.timedOut) throw tooSlow(dialect, subject, timeoutMs)
      if (result.exitCode === undefined && result.cause) throw cannotRun(dialect, subject, result.cause)
      const words = tail ? await tail : String(result.stderr || result.stdout)
      throw diagnose(dialect, words, subject)
    },

    // Not execa: it drops what a program prints before a reader is attached.
    open(args) {
      const child = spawn(dialect.name, args, {
        env: { ...env },
        ...place(),
        // A session of its own: the caller acts on Ctrl-C in a terminal, and the program must not.
        detached: true,
        stdio: 'pipe',
      })
      const ended = new Promise<number | undefined>(resolve => {
        child.once('exit', code => resolve(code ?? undefined))
        child.once('error', () => resolve(undefined))
      })
      child.stdin.on('error', () => undefined) // the reader is gone; `ended` says so
      // When a program ends, Node drops what was not read, so it is read from the start.
      const stdout = child.stdout.pipe(new PassThrough())
      const stderr = child.stderr.pipe(new PassThrough())
      return {
        ...{ stdin: child.stdin, stdout, stderr, ended },
        dropUnread() {
          dropUnread(child.stdout, stdout)
          dropUnread(child.stderr, stderr)
        },
        kill: () => void child.kill('SIGKILL'),
      }
    },

    async listen(args) {
      const { stdin, stdout, stderr, kill } = this.open(args)
      stdin.end()
      stderr.resume()
      return { output: stdout, end: kill }
    },
  }
}

/** Reads the source to its end, for a copy that takes no more than its reader does. */
function dropUnread(source: Readable, copy: PassThrough): void {
  source.unpipe(copy)
  source.on('data', chunk => copy.writableNeedDrain || copy.write(chunk))
  source.once('end', () => copy.end())
  source.resume() // `unpipe` has paused it
}

/** Passes lines on as they arrive. Returns the last ones. */
async function forwardLines(
  child: { iterable(options: { from: 'stdout' | 'stderr' }): AsyncIterable<unknown> },
  onLine: (line: string) => void,
): Promise<string> {
  const tail: string[] = []
  const forward = async (from: 'stdout' | 'stderr') => {
    for await (const line of child.iterable({ from })) {
      tail.push(String(line))
      if (tail.length > TAIL_LINES) tail.shift()
      onLine(String(line))
    }
  }
  // The iteration rejects when the call fails; the call's result says more about it.
  await Promise.allSettled([forward('stdout'), forward('stderr')])
  return tail.join('\n')
}

export function tooSlow(dialect: Dialect, subject: Subject, timeoutMs: number) {
  return runtimeFailures.runtime_unavailable({
    runtime: dialect.name,
    problem: `it did not ${subject.doing} within ${Math.round(timeoutMs / 1000)} seconds.`,
    hint: `See whether \`${dialect.name} ps\` responds; restart the engine if not.`,
  })
}

/** The failure of a program that could not be started. */
function cannotRun(dialect: Dialect, subject: Subject, cause: unknown) {
  const runtime = dialect.name
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'ENOENT') {
    return runtimeFailures.runtime_unavailable(
      { runtime, problem: `there is no program "${runtime}" in the PATH.`, hint: dialect.install },
      { cause },
    )
  }
  if (code === 'E2BIG') {
    const problem = 'arguments and environment are too long for this system.'
    return runtimeFailures.runtime_failed({ runtime, doing: subject.doing, problem }, { cause })
  }
  return runtimeFailures.runtime_unavailable(
    { runtime, problem: `its program cannot be started: ${messageOf(cause)}`, hint: dialect.install },
    { cause },
  )
}

/** The failure of a call with a NUL character, which no program can be given (POSIX, `execve`). */
function holdsNul(dialect: Dialect, { doing }: Subject) {
  const problem = 'a name, an argument, a label or a path holds a NUL character.'
  return runtimeFailures.runtime_failed({ runtime: dialect.name, doing, problem })
}
