import { devNull } from 'node:os'
import type { Readable } from 'node:stream'
import { execa } from 'execa'
import { failures } from '../failures.ts'

export interface GitResult {
  readonly ok: boolean
  readonly stdout: Buffer
  readonly stderr: string
  /** It printed more than the limit, and was killed. */
  readonly tooLong: boolean
}

export interface GitCall {
  /** Its standard input. */
  readonly input?: string
  /** Called with each line of its standard error. */
  readonly onLine?: ((line: string) => void) | undefined
  /** Most bytes of its standard output. */
  readonly maxBytes?: number
  /** Reads the output as a stream; `stdout` of the result is then empty. */
  readonly read?: (output: Readable) => Promise<void>
}

/** Runs git on one bare repository. */
export type Git = (args: readonly string[], call?: GitCall) => Promise<GitResult>

export interface GitOptions {
  /** The folder for the repository, which is also git's `HOME`. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** `socks5h://…`: the proxy for all connections of git. */
  readonly proxy: string
  /** URL schemes that git may use. */
  readonly protocol: 'https' | 'http'
  /** The `Authorization` header for all URLs below one URL. */
  readonly authorization?: { readonly url: string; readonly header: string } | undefined
  readonly signal: AbortSignal
}

/** The variables that git gets: where programs and trusted certificates are. */
const PASSED = /^(PATH|SYSTEMROOT|TE?MP|TMPDIR|GIT_SSL_CA(INFO|PATH)|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE)$/i

/** The limit of an allocation of git. Half of it is enough for any skill; a hostile pack that needs more only ends git. */
const MOST_MEMORY = '256m'

/**
 * Runs git without any configuration of the system, the user or the environment, and without hooks,
 * credential helpers and prompts, with one protocol and one host. Nothing is checked out, so filters and
 * attributes of a repository have no effect.
 *
 * Aborting kills git and all processes that it started.
 */
export function createGit({ folder, env, proxy, protocol, authorization, signal }: GitOptions): Git {
  const settings = {
    'core.hooksPath': devNull,
    'core.bigFileThreshold': '32m',
    'credential.helper': '',
    'gc.auto': '0',
    'http.followRedirects': 'initial',
    'http.proxy': proxy,
    'maintenance.auto': 'false',
    'pack.threads': '1',
    'transfer.bundleURI': 'false',
    'transfer.unpackLimit': '1',
  }
  const config = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  const passed = Object.entries(env).filter(([name, value]) => PASSED.test(name) && value)
  const environment: Record<string, string | undefined> = {
    ...Object.fromEntries(passed),
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    LC_ALL: 'C',
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_SYSTEM: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOC_LIMIT: MOST_MEMORY,
    // In the environment, because every user of the machine can read arguments.
    ...(authorization
      ? {
          GIT_CONFIG_COUNT: '1',
          GIT_CONFIG_KEY_0: `http.${authorization.url}.extraHeader`,
          GIT_CONFIG_VALUE_0: `Authorization: ${authorization.header}`,
        }
      : {}),
  }
  const isGroup = process.platform !== 'win32'

  return async (args, { input = '', onLine, maxBytes = 10_000_000, read } = {}) => {
    signal.throwIfAborted()
    const child = execa('git', [...config, ...args], {
      cwd: folder,
      env: environment,
      extendEnv: false,
      input,
      encoding: 'buffer',
      stripFinalNewline: false,
      reject: false,
      detached: isGroup,
      maxBuffer: maxBytes,
      buffer: { stdout: !read, stderr: true },
    })
    let ended = false
    const kill = () => {
      if (ended || child.pid === undefined) return
      try {
        process.kill(isGroup ? -child.pid : child.pid, 'SIGKILL')
      } catch {
        // It ended by itself meanwhile.
      }
    }
    signal.addEventListener('abort', kill, { once: true })
    try {
      if (onLine) listen(child.stderr, onLine)
      const reading =
        read &&
        consume(child.stdout, read).then(
          () => undefined,
          (error: unknown) => {
            kill()
            return { error }
          },
        )
      const result = await child
      ended = true
      const failed = await reading
      signal.throwIfAborted()
      if (result.code === 'ENOENT') throw failures.git_missing()
      if (failed) throw failed.error
      return {
        ok: !result.failed,
        stdout: Buffer.from(result.stdout ?? new Uint8Array()),
        stderr: Buffer.from(result.stderr ?? new Uint8Array()).toString('utf8'),
        tooLong: result.isMaxBuffer,
      }
    } finally {
      signal.removeEventListener('abort', kill)
    }
  }
}

/** Passes the output to a reader, and discards what the reader leaves. */
async function consume(output: Readable, read: (output: Readable) => Promise<void>): Promise<void> {
  const wait = () => undefined
  // Without a listener execa would discard it at once.
  output.on('readable', wait)
  try {
    await read(output)
  } finally {
    output.off('readable', wait)
    output.resume()
  }
}

/** Git's progress replaces its line with carriage returns. */
function listen(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('utf8')).split(/[\r\n]+/)
    rest = (lines.pop() ?? '').slice(-1000)
    for (const line of lines) if (line) onLine(line)
  })
}
