import { execa } from 'execa'
import { inScratchFolder } from './scratch-folder.ts'
import { toolEnvironment } from './tool-environment.ts'

export interface ToolResult {
  readonly status: 'ok' | 'failed' | 'missing'
  readonly stdout: string
  readonly stderr: string
}

export interface ToolOptions {
  /** The working directory; an empty folder by default, so that no project's settings apply by accident. */
  readonly cwd?: string | undefined
  /** All of its environment; by default what any program needs of ours (`toolEnvironment`). */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** What it reads on standard input. */
  readonly input?: string
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** Each line of its output, as it comes. */
  readonly onLine?: ((line: string) => void) | undefined
}

/** Runs a program to its end and tells how it went; throws only when the signal aborts. */
export async function runTool(command: readonly string[], options: ToolOptions = {}): Promise<ToolResult> {
  const { cwd } = options
  return cwd === undefined
    ? inScratchFolder(folder => run(command, { ...options, cwd: folder }))
    : run(command, { ...options, cwd })
}

async function run(
  [program = '', ...args]: readonly string[],
  options: ToolOptions & { cwd: string },
): Promise<ToolResult> {
  const { cwd, env = toolEnvironment(process.env), input, signal, timeoutMs, onLine } = options
  signal?.throwIfAborted()
  const child = execa(program, args, {
    cwd,
    env,
    extendEnv: false,
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
    reject: false,
    maxBuffer: 10_000_000,
    ...(signal ? { cancelSignal: signal } : {}),
    ...(timeoutMs ? { timeout: timeoutMs } : {}),
  })
  if (onLine) {
    for (const stream of ['stdout', 'stderr'] as const) forEachLine(child.readable({ from: stream }), onLine)
  }
  const result = await child
  signal?.throwIfAborted()
  const status = result.code === 'ENOENT' ? 'missing' : result.failed ? 'failed' : 'ok'
  const late = result.timedOut ? `no response within ${(timeoutMs ?? 0) / 1000} s\n` : ''
  return { status, stdout: result.stdout ?? '', stderr: late + (result.stderr ?? '') }
}

function forEachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('error', () => undefined)
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split(/[\r\n]+/)
    rest = (lines.pop() ?? '').slice(-10_000)
    for (const line of lines) if (line.trim()) onLine(line.trim())
  })
}

/** The lines of a failed tool that tell why, at most `count`. */
export function lastLines(text: string, count = 3): string {
  const lines = text
    .split('\n')
    .map(line => line.trim())
    .filter(
      line =>
        line &&
        !/^(npm )?(warn|warning|notice)\b/i.test(line) &&
        !/A complete log of this run|Log files were not written/.test(line),
    )
  return lines.slice(-count).join('; ')
}
