import { runtimeFailures } from '../../src/contracts/runtime-failures.ts'
import { type NamelessFile, withNamelessFile } from './nameless-file.ts'

/**
 * Names that the engine's program, what it starts or its libraries act on: given to that program as
 * its own, they would change what it does, on this host.
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
    // interpreters of what they may start
    '(?:NODE|GIT|CNI|NETAVARK|SYSTEMD|RUST|JAVA|JDK)_\\w*|(?:PYTHON|PERL|RUBY)\\w*|GNUPGHOME',
    // Windows
    'SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|PROGRAM(?:DATA|FILES)\\w*|USERPROFILE',
  ].join('|')})$`,
  'i',
)

/** A name that is taken literally: podman expands `*`, and `=` or white space would end the name. */
const NAME = /^[^\s=*\0]+$/

/** Go's reader of lines takes 64 KiB at most, and engines give up on longer ones. */
const LINE_BYTES = 60_000

export interface SplitEnv {
  /** Variables that the container gets from an env file, as `KEY=value` lines. */
  readonly filed: Readonly<Record<string, string>>
  /** Variables that the container inherits from the program's environment. The arguments hold the names alone. */
  readonly inherited: Readonly<Record<string, string>>
}

/**
 * Decides how each variable gets into the container. Most go through a file, so that a server's variables are
 * not the engine program's too. Env files cannot hold values of several lines or very long ones; such a value
 * is inherited, if the engine's program does not act on its name. Fails with `env_refused` for all others.
 */
export function splitEnv(env: Readonly<Record<string, string>>): SplitEnv {
  const inherited: Record<string, string> = {}
  const filed: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (!NAME.test(name)) throw refused(name, 'this is not a name for a variable.')
    if (value.includes('\0')) throw refused(name, 'its value holds a NUL character.')
    // Either line break ends an entry of an engine's env file, and nothing escapes it.
    const fits = !/[\r\n]/.test(value) && Buffer.byteLength(`${name}=${value}`) <= LINE_BYTES
    if (fits && !name.startsWith('#'))
      filed[name] = value // a name that begins with a hash would make a comment
    else if (!READ_BY_THE_PROGRAM.test(name)) inherited[name] = value
    else
      throw refused(
        name,
        'its value has several lines or is very long, which engines take only for other names.',
      )
  }
  return { inherited, filed }
}

const refused = (name: string, problem: string) => runtimeFailures.env_refused({ name, problem })

/** Gives the work an env file that leaves nothing on disk; without variables it gets no file. */
export function withEnvFile<T>(
  variables: Readonly<Record<string, string>>,
  work: (file: NamelessFile | undefined) => Promise<T>,
): Promise<T> {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
  return lines.length ? withNamelessFile(lines.join(''), work) : work(undefined)
}
