import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { type NamelessFile, withNamelessFile } from './nameless-file.ts'

/**
 * Names that the engine's program, what it starts or its libraries act on: given to that program as
 * its own, they would change what it does.
 */
const READ_BY_THE_PROGRAM = new RegExp(
  `^(?:${[
    // the C library, the shell and Go
    'PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|TZ|TZDIR|COLUMNS|LINES|NO_COLOR|CLICOLOR\\w*|TMPDIR|TMP|TEMP',
    'HOSTALIASES|RES_OPTIONS|LOCALDOMAIN|GCONV_PATH|LOCPATH|NLSPATH|LANG|LANGUAGE|(?:LC|LD|DYLD|MALLOC|GLIBC)_\\w*',
    'ENV|BASH_ENV|BASH_FUNC\\w*|IFS|GODEBUG|GOMAXPROCS|GOGC|GOMEMLIMIT|GOTRACEBACK|GORACE|GOCOVERDIR',
    // the engines and what they start
    '(?:DOCKER|BUILDKIT|BUILDX|BUILDAH|PODMAN|LIBPOD|_CONTAINERS|STORAGE)_\\w*|CONTAINER\\w*|REGISTRY_AUTH_FILE|KUBECONFIG',
    'XDG_\\w*|DBUS_\\w*|NOTIFY_SOCKET|LISTEN_\\w*|SSH_(?:AUTH_SOCK|AGENT_PID|ASKPASS\\w*)|\\w*_PROXY|SSL_CERT_\\w*|OTEL_\\w*',
    // Windows
    'SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAM(?:DATA|FILES)\\w*|USERPROFILE',
  ].join('|')})$`,
  'i',
)

/** A name that means itself: podman expands `*`, and `=` or white space would end it. */
const NAME = /^[^\s=*\0]+$/

export interface SplitEnv {
  /** Goes through the program's environment; the arguments hold the name alone. */
  readonly inherited: Readonly<Record<string, string>>
  /** Goes through a file, as `KEY=value` lines. */
  readonly filed: Readonly<Record<string, string>>
}

/** Chooses the way into the container for each variable. Fails with `env_refused` for what has none. */
export function splitEnv(env: Readonly<Record<string, string>>): SplitEnv {
  const inherited: Record<string, string> = {}
  const filed: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (!NAME.test(name)) throw refused(name, 'this is no name for a variable.')
    if (value.includes('\0')) throw refused(name, 'its value holds a NUL character.')
    if (!READ_BY_THE_PROGRAM.test(name)) {
      inherited[name] = value
      continue
    }
    // Either line break ends an entry of an engine's env file, and nothing escapes it.
    if (/[\r\n]/.test(value))
      throw refused(name, 'its value has several lines, which engines take only for other names.')
    if (name.startsWith('#')) throw refused(name, 'it reads as a comment.')
    filed[name] = value
  }
  return { inherited, filed }
}

const refused = (name: string, problem: string) => runtimeFailures.env_refused({ name, problem })

/** The variables as an env file that leaves nothing on disk; without variables the work gets none. */
export function withEnvFile<T>(
  variables: Readonly<Record<string, string>>,
  work: (file: NamelessFile | undefined) => Promise<T>,
): Promise<T> {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
  return lines.length ? withNamelessFile(lines.join(''), work) : work(undefined)
}
