import { execa } from 'execa'
import { main } from './main.ts'

/** What a person does: once this text has appeared, that is typed, with its return key (`\r`). */
export type Step = readonly [seen: string, typed: string]

/** Runs a command on a pseudo-terminal and types each step's text once its prompt is on the screen. */
const DRIVER = `
import fcntl, json, os, pty, struct, sys, termios
columns, steps, command = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
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

interface Shown {
  readonly code: number | undefined
  /** All that was shown, with line ends as they are here. */
  readonly screen: string
  /** How many steps were never taken. */
  readonly untaken: number
}

/** Runs a command on a terminal, of a width that it does not tell unless there are `columns`. */
export async function onTerminal(
  command: readonly string[],
  options: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly steps: readonly Step[]
    readonly columns?: number
    readonly timeoutMs: number
  },
): Promise<Shown> {
  const { cwd, env, steps, columns = 0, timeoutMs } = options
  const args = ['-c', DRIVER, String(columns), JSON.stringify(steps), ...command]
  const { exitCode, stdout, stderr } = await execa('python3', args, {
    cwd,
    env,
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
    stripFinalNewline: false,
    timeout: timeoutMs,
  })
  return { code: exitCode, screen: stdout.replaceAll('\r\n', '\n'), untaken: Number(stderr) }
}

/** Runs the program on a terminal with a person in front of it. */
export const atTerminal = (
  at: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  args: readonly string[],
  steps: readonly Step[] = [],
): Promise<Shown> =>
  onTerminal([process.execPath, '--', main, ...args], {
    cwd: at.cwd,
    env: { TERM: 'dumb', ...at.env },
    steps,
    timeoutMs: 120_000,
  })
