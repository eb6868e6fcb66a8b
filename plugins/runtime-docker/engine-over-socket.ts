import { PassThrough, type Readable } from 'node:stream'
import { diagnose, type Subject } from './diagnose.ts'
import type { Dialect } from './dialect.ts'
import { type ApiRequest, type CallOptions, type EngineCli, SHORT_MS, tooSlow } from './engine-cli.ts'
import { call, messageIn, type Opened, readBody, SlowResponse } from './engine-socket.ts'

/** The most characters of a response. */
const LONGEST = 16_000_000

interface Response {
  readonly status: number
  readonly body: string
}

/**
 * Sends calls that name a request of the API (`ApiRequest`) over the engine's socket, which saves a program that takes
 * 40 ms to start. All other calls go to the program, and those to which the socket gives no response of the API. A
 * request whose connection broke may have had its effect; whoever calls an engine expects that of its program as well.
 */
export function overSocket(
  program: EngineCli,
  { dialect, socket }: { dialect: Dialect; socket: () => Promise<string | undefined> },
): EngineCli {
  /** Undefined where the program has to be asked. */
  async function request(
    api: ApiRequest,
    subject: Subject,
    { timeoutMs = SHORT_MS, signal }: CallOptions,
  ): Promise<Response | undefined> {
    const path = await socket()
    signal?.throwIfAborted()
    if (path === undefined) return undefined
    try {
      const { response } = await call(path, api.method, api.path, { timeoutMs, signal, body: api.body })
      const body = await readBody(response, LONGEST)
      return body.length < LONGEST ? { status: response.statusCode ?? 0, body } : undefined
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof SlowResponse) throw tooSlow(dialect, subject, timeoutMs)
      return undefined
    }
  }

  return {
    async run(args, subject, options = {}) {
      const { api } = options
      const response = api && (await request(api, subject, options))
      if (!response) return program.run(args, subject, options)
      const { status, body } = response
      // 304: it is in that state already.
      if (status === 304 || (status >= 200 && status < 300)) return api.print?.(body) ?? body
      const words = status >= 400 ? messageIn(body) : undefined
      if (words === undefined || words === 'page not found') return program.run(args, subject, options)
      throw diagnose(dialect, words, subject)
    },

    open: program.open,

    async listen(args, api) {
      const path = await socket()
      const found =
        path && (await call(path, api.method, api.path, { timeoutMs: SHORT_MS }).catch(() => undefined))
      if (found && found.response.statusCode === 200) return toLines(found)
      if (found) found.close()
      return program.listen(args, api)
    },
  }
}

/** A response that breaks off ends, as the output of a program does. */
function toLines({ response, close }: Opened): { output: Readable; end(): void } {
  const output = response.pipe(new PassThrough())
  response.once('close', () => output.end())
  return { output, end: close }
}
