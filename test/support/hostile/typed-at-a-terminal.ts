import { execa } from 'execa'
import { main } from '../main.ts'

/**
 * Runs the program on a real terminal (a pseudo-terminal of script(1)), where somebody types the answers
 * as the questions appear; returns what the screen showed.
 */
export async function typedAtATerminal(
  args: readonly string[],
  answers: readonly (readonly [question: RegExp, answer: string])[],
  options: { env: Readonly<Record<string, string>>; cwd: string },
): Promise<{ code: number | undefined; screen: string; unasked: number }> {
  const quoted = [process.execPath, '--', main, ...args].map(word => `'${word.replaceAll("'", `'\\''`)}'`)
  const child = execa('script', ['-qec', quoted.join(' '), '/dev/null'], {
    ...options,
    extendEnv: false,
    stdin: 'pipe',
    reject: false,
    timeout: 120_000,
  })
  const open = [...answers]
  let screen = ''
  let seen = 0
  child.stdout.on('data', chunk => {
    screen += chunk
    const [question, answer] = open[0] ?? []
    if (!question?.test(screen.slice(seen))) return
    open.shift()
    seen = screen.length
    child.stdin.write(`${answer}\n`)
  })
  const { exitCode } = await child
  return { code: exitCode, screen, unasked: open.length }
}
