import { devNull } from 'node:os'
import type { Readable } from 'node:stream'
import { execa } from 'execa'
import { failures } from '../failures.ts'

export interface GitResult {
  readonly ok: boolean
  readonly stdout: Buffer
  readonly stderr: string
  /** It printed more than was wanted, and was ended. */
  readonly tooLong: boolean
}

export interface GitCall {
  /** What it reads on standard input. */
  readonly input?: string
  /** Each line of its messages, as it comes. */
  readonly onLine?: ((line: string) => void) | undefined
  /** Of its output. */
  readonly maxBytes?: number
  /** Reads the output as it comes; `stdout` of the result is then empty. */
  readonly read?: (output: Readable) => Promise<void>
}

/** Runs git on one bare repository. */
export type Git = (args: readonly string[], call?: GitCall) => Promise<GitResult>

export interface GitOptions {
  /** Where the repository is made, and what git takes for the home of its user. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** `socks5h://…`: the only way to the network. */
  readonly proxy: string
  /** Schemes that git may speak. */
  readonly protocol: 'https' | 'http'
  /** `Authorization` header for everything below a URL. */
  readonly authorization?: { readonly url: string; readonly header: string } | undefined
  readonly signal: AbortSignal
}

/** What git gets of the environment: where programs and trusted certificates are. */
const PASSED = /^(PATH|SYSTEMROOT|TE?MP|TMPDIR|GIT_SSL_CA(INFO|PATH)|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE)$/i

/** Half of it suffices for any skill; what a hostile pack wants beyond ends git instead of the machine. */
const MOST_MEMORY = '256m'

/**
 * Git as if nobody had ever configured it: no configuration of the system, of the user or of the
 * environment, no hooks, no credential helpers, no questions, one protocol, one host. Bytes are only
 * fetched and read; nothing is ever checked out, so filters and attributes of a repository never act.
 *
 * Aborting kills git with all that it has started.
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
    // The environment, since arguments can be read by everybody on the machine.
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
        // It has just ended by itself.
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

/** Lets somebody read the output piece by piece, and the rest of it flow away. */
async function consume(output: Readable, read: (output: Readable) => Promise<void>): Promise<void> {
  const wait = () => undefined
  // Without a listener execa would let it flow away at once.
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
