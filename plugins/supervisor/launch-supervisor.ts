import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sizeOf } from './rotating-file.ts'

/** How a supervisor process is started. */
export interface Launch {
  readonly command: readonly [program: string, ...args: string[]]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A core dump would write its secrets to disk. Processes that it starts inherit the limit. */
const WITHOUT_CORE_DUMPS = ['/bin/sh', '-c', 'ulimit -c 0; exec "$@"', 'sh'] as const

/**
 * V8 lets the place for new objects grow to three times 16 MB. A quarter costs no processor time, as hardly anything of
 * a call outlives it, and the peak of 10,000 calls in flight is 110 MB lower.
 */
const NEW_OBJECTS = '--max-semi-space-size=4'

/** The flags of Node for a supervisor. */
export const NODE_FLAGS = ['--disable-sigusr1', NEW_OBJECTS] as const

/**
 * The command that runs this program as a supervisor, without core dumps and inspector. The entry of a bundle
 * lies beside or above this file, that of the sources in `src`.
 */
export function supervisorCommand(here = import.meta.url): Launch['command'] {
  const candidates = here.endsWith('.ts')
    ? ['../../src/main.ts']
    : ['./main.js', '../main.js', '../../main.js']
  const entries = candidates.map(candidate => fileURLToPath(new URL(candidate, here)))
  const entry = entries.find(existsSync)
  if (!entry) throw new Error(`no entry of the program near ${here}`)
  const command = [process.execPath, ...NODE_FLAGS, entry, 'supervisor', 'run'] as const
  return process.platform === 'win32' ? command : [...WITHOUT_CORE_DUMPS, ...command]
}

/** A supervisor that was started; it goes on when this process ends. */
export interface Launched {
  /** Resolves with its last log lines if it exits before `release`. */
  readonly exited: Promise<string>
  /** Stops waiting for it. */
  release(): void
}

const LOG_BYTES = 5_000_000

/** Starts a supervisor in a session of its own, with its output in `log` (the last one is kept as `<log>.1`). */
export async function launch({ command, env }: Launch, log: string): Promise<Launched> {
  await mkdir(dirname(log), { recursive: true, mode: 0o700 })
  const size = await sizeOf(log)
  const from = size > LOG_BYTES ? 0 : size
  if (size > LOG_BYTES) await rename(log, `${log}.1`)
  const output = await open(log, 'a', 0o600)
  try {
    const [program, ...args] = command
    const child = spawn(program, args, {
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
      cwd: '/',
      env,
      windowsHide: true,
    })
    const exited = new Promise<string>(resolve => {
      child.once('error', error => resolve(error.message))
      child.once('exit', (code, signal) => {
        void lastMessages(log, from).then(text =>
          resolve(text || `it exited at once (${signal ?? `exit ${code}`})`),
        )
      })
    })
    return {
      exited,
      release: () => {
        child.removeAllListeners('exit')
        child.unref()
      },
    }
  } finally {
    await output.close()
  }
}

/** The last lines after the offset `from`; of JSON lines the message. */
async function lastMessages(log: string, from: number): Promise<string> {
  const file = await open(log, 'r').catch(() => undefined)
  if (!file) return ''
  try {
    const { size } = await file.stat()
    const start = Math.max(from, size - 16_384)
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.max(0, size - start)),
      0,
      undefined,
      start,
    )
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n').filter(Boolean)
    const error = lines.findLast(line => /^\w*Error: /.test(line)) // of a stack trace only the error
    return error ? messageIn(error) : lines.slice(-3).map(messageIn).join(' ')
  } finally {
    await file.close()
  }
}

function messageIn(line: string): string {
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry === 'object' && entry !== null && 'msg' in entry) return String(entry.msg)
  } catch {
    // not one of our log lines
  }
  return line.replace(/^\w*Error: /, '')
}
