import { stripVTControlCharacters } from 'node:util'
import { onTerminal, type Step } from '../../support/terminal.ts'

/** Runs a line of a shell on a terminal of 80 columns; returns what stays on the screen. */
export async function at80Columns(
  line: string,
  options: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly answers?: readonly Step[]
  },
): Promise<{ readonly code: number | undefined; readonly screen: string }> {
  const { cwd, env, answers: steps = [] } = options
  const command = ['/bin/sh', '-c', line]
  const { code, screen } = await onTerminal(command, { cwd, env, steps, columns: 80, timeoutMs: 300_000 })
  return { code, screen: withoutFrames(screen) }
}

/** Each line as it stands in the end: the text behind the last time that it was cleared. */
const withoutFrames = (output: string): string =>
  output
    .split('\n')
    .map(line => stripVTControlCharacters(line.split('\r\u001b[2K').at(-1) ?? ''))
    .map(line => line.trimEnd())
    .join('\n')
