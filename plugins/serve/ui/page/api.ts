import { findCallerToken, keepCallerToken } from './caller-token.ts'

/** What the API refused, in its own words. */
export class Refusal extends Error {
  /** 0: there was no response. */
  readonly status: number
  /** The JSON of the response. */
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, message: string, body: Record<string, unknown> = {}) {
    super(message)
    this.status = status
    this.body = body
  }
}

export interface Api {
  /** Reads a document. */
  // biome-ignore lint/suspicious/noExplicitAny: the API describes its responses, and is of the same version
  get(path: string, signal?: AbortSignal): Promise<any>
  /** Changes something. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<any>
  /** Reads a text. */
  text(path: string): Promise<string>
  /** Opens a stream of events; with a body it is a POST. */
  stream(path: string, signal: AbortSignal, body?: unknown): Promise<Response>
}

/** An access token of whoever logs people in, or the caller token. */
export type TokenKind = 'login' | 'caller'

/**
 * Speaks to the server this page came from. Where it wants a token, `askToken` is asked for it; undefined: the
 * user has none. An access token is kept in this closure and nowhere else, the caller token for this tab.
 */
export function createApi(askToken: (kind: TokenKind) => Promise<string | undefined>): Api {
  let tokens: Partial<Record<TokenKind, string | undefined>> = { caller: findCallerToken() }
  let asking: Promise<string | undefined> | undefined

  async function ask(path: string, options: RequestInit): Promise<Response> {
    const used = tokens
    const headers = {
      ...(used.login ? { authorization: `Bearer ${used.login}` } : {}),
      ...(used.caller ? { 'keelson-caller-token': used.caller } : {}),
    }
    const response = await fetch(path, { ...options, headers }).catch(error => {
      if (options.signal?.aborted) throw error
      throw new Refusal(0, 'The server cannot be reached. Does “keelson serve” still run?')
    })
    if (response.ok) return response
    if (response.status !== 401) throw await refusalOf(response)
    // Several requests may be refused at a time; the user is asked once.
    if (used === tokens) {
      const kind = isForCaller(response) ? 'caller' : 'login'
      asking ??= askToken(kind).finally(() => {
        asking = undefined
      })
      const given = await asking
      if (!given) throw new Refusal(401, 'This server requires a login: it needs a token.')
      tokens = { ...tokens, [kind]: given }
      if (kind === 'caller') keepCallerToken(given)
    }
    return ask(path, options)
  }

  const withSignal = (signal: AbortSignal | undefined) => (signal ? { signal } : {})
  return {
    get: async (path, signal) => (await ask(path, withSignal(signal))).json(),
    async send(method, path, body, signal) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await ask(path, { method, ...sent, ...withSignal(signal) })
      const text = await response.text()
      return text ? JSON.parse(text) : undefined
    },
    text: async path => (await ask(path, {})).text(),
    stream: (path, signal, body) =>
      ask(path, { signal, ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }) }),
  }
}

const isForCaller = (response: Response): boolean =>
  response.headers.get('www-authenticate') === 'Keelson-Caller-Token'

async function refusalOf(response: Response): Promise<Refusal> {
  const { status } = response
  const text = (await response.text()).trim()
  try {
    const body = JSON.parse(text)
    const message = body.message ?? body.error_description // the latter from the login
    if (typeof message === 'string') return new Refusal(status, message, body)
  } catch {
    // most failures are text
  }
  return new Refusal(status, text || `The server responded with ${status}.`)
}
