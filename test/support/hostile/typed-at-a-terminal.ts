import { execa } from 'execa'

const main = new URL('../../../src/main.ts', import.meta.url).pathname

/** Runs the program on a real terminal (a pseudo-terminal of `script`) where somebody types this; returns what is shown. */
export async function typedAtATerminal(
  args: readonly string[],
  typed: string,
  options: { env: Readonly<Record<string, string>>; cwd: string },
): Promise<{ code: number | undefined; screen: string }> {
  const quoted = [process.execPath, '--', main, ...args].map(word => `'${word.replaceAll("'", `'\\''`)}'`)
  const { exitCode, stdout } = await execa('script', ['-qec', quoted.join(' '), '/dev/null'], {
    ...options,
    extendEnv: false,
    input: typed,
    reject: false,
  })
  return { code: exitCode, screen: stdout }
}
