import { execa } from 'execa'
import { main } from './main.ts'

/** What a person does: once this text has appeared, that is typed, with its return key (`\r`). */
export type Step = readonly [seen: string, typed: string]

/** Runs the command on a pseudo-terminal and types each step's text once its prompt is on the screen. */
const DRIVER = `
import json, os, pty, sys
steps, command = json.loads(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execv(command[0], command)
screen, at = b"", 0
while True:
    try:
        chunk = os.read(fd, 65536)
    except OSError:
        break
    if not chunk:
        break
    screen += chunk
    while steps and steps[0][0].encode() in screen[at:]:
        at = len(screen)
        os.write(fd, steps.pop(0)[1].encode())
sys.stdout.buffer.write(screen)
sys.stdout.flush()
print(len(steps), file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

/**
 * Runs the program on a terminal with a person in front of it. Returns all that was shown, line ends as they
 * are here, and how many steps were never taken.
 */
export async function atTerminal(
  at: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  args: readonly string[],
  steps: readonly Step[] = [],
): Promise<{ code: number | undefined; screen: string; untaken: number }> {
  const command = [process.execPath, '--', main, ...args]
  const { exitCode, stdout, stderr } = await execa(
    'python3',
    ['-c', DRIVER, JSON.stringify(steps), ...command],
    {
      cwd: at.cwd,
      env: { TERM: 'dumb', ...at.env },
      extendEnv: false,
      stdin: 'ignore',
      reject: false,
      stripFinalNewline: false,
      timeout: 120_000,
    },
  )
  return { code: exitCode, screen: stdout.replaceAll('\r\n', '\n'), untaken: Number(stderr) }
}
