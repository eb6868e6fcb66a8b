import { stripVTControlCharacters } from 'node:util'
import { execa } from 'execa'

type Answer = readonly [seen: string, typed: string]

/** Runs a command on a pseudo-terminal of 80 columns, and types each answer once its question is shown. */
const DRIVER = `
import fcntl, json, os, pty, struct, sys, termios
answers, command = json.loads(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
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
    while answers and answers[0][0].encode() in screen[at:]:
        at = len(screen)
        os.write(fd, answers.pop(0)[1].encode())
sys.stdout.buffer.write(screen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

/** Runs a line of a shell; returns what stays on the screen. */
export async function at80Columns(
  line: string,
  options: {
    readonly cwd: string
    readonly env: Readonly<Record<string, string>>
    readonly answers?: readonly Answer[]
  },
): Promise<{ readonly code: number | undefined; readonly screen: string }> {
  const { cwd, env, answers = [] } = options
  const command = ['-c', DRIVER, JSON.stringify(answers), '/bin/sh', '-c', line]
  const { exitCode, stdout } = await execa('python3', command, {
    cwd,
    env,
    extendEnv: false,
    stdin: 'ignore',
    reject: false,
    timeout: 300_000,
    stripFinalNewline: false,
  })
  return { code: exitCode, screen: withoutFrames(stdout) }
}

/** Each line as it stands in the end: the text behind the last time that it was cleared. */
const withoutFrames = (output: string): string =>
  output
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map(line => stripVTControlCharacters(line.split('\r\u001b[2K').at(-1) ?? ''))
    .map(line => line.trimEnd())
    .join('\n')
