import { tmpdir } from 'node:os'
import { execa } from 'execa'

export interface ToolResult {
  readonly status: 'ok' | 'failed' | 'missing'
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a program to its end and tells how it went; throws only when the signal aborts.
 * It works in the temporary folder unless told otherwise, so that no project's settings apply by accident.
 */
export async function runTool(
  [program = '', ...args]: readonly string[],
  options: {
    cwd?: string
    env?: Readonly<Record<string, string>> | undefined
    /** What it reads on standard input. */
    input?: string
    signal?: AbortSignal | undefined
    timeoutMs?: number
    /** Each line of its output, as it comes. */
    onLine?: ((line: string) => void) | undefined
  } = {},
): Promise<ToolResult> {
  const { cwd = tmpdir(), env, input, signal, timeoutMs, onLine } = options
  signal?.throwIfAborted()
  const child = execa(program, args, {
    cwd,
    ...(input === undefined ? { stdin: 'ignore' as const } : { input }),
    reject: false,
    maxBuffer: 10_000_000,
    ...(env ? { env } : {}),
    ...(signal ? { cancelSignal: signal } : {}),
    ...(timeoutMs ? { timeout: timeoutMs } : {}),
  })
  if (onLine) {
    for (const stream of ['stdout', 'stderr'] as const) forEachLine(child.readable({ from: stream }), onLine)
  }
  const result = await child
  signal?.throwIfAborted()
  const status = result.code === 'ENOENT' ? 'missing' : result.failed ? 'failed' : 'ok'
  const late = result.timedOut ? `no answer within ${(timeoutMs ?? 0) / 1000} s\n` : ''
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
      line => line && !/^(npm )?(warn|notice)\b/i.test(line) && !/A complete log of this run/.test(line),
    )
  return lines.slice(-count).join('; ')
}
