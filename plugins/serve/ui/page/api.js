import { findCallerToken, keepCallerToken } from './caller-token.js'

/** What the API refused, in its own words. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {Record<string, unknown>} [body]  the JSON of the response
   */
  constructor(status, message, body = {}) {
    super(message)
    this.status = status
    this.body = body
  }
}

/**
 * @typedef {object} Api
 * @property {(path: string, signal?: AbortSignal) => Promise<any>} get  reads a document
 * @property {(method: string, path: string, body?: unknown) => Promise<any>} send  changes something
 * @property {(path: string, signal: AbortSignal, body?: unknown) => Promise<Response>} stream  opens a stream of
 *   events; with a body it is a POST
 */

/** @typedef {'login' | 'caller'} TokenKind  an access token of whoever logs people in, or the caller token */

/**
 * Speaks to the server this page came from. Where it wants a token, `askToken` is asked for it; undefined: the
 * user has none. An access token is kept in this closure and nowhere else, the caller token for this tab.
 * @param {(kind: TokenKind) => Promise<string | undefined>} askToken
 * @returns {Api}
 */
export function createApi(askToken) {
  /** @type {{ login?: string | undefined, caller?: string | undefined }} */
  let tokens = { caller: findCallerToken() }
  /** @type {Promise<string | undefined> | undefined} */
  let asking

  /**
   * @param {string} path
   * @param {RequestInit} options
   * @returns {Promise<Response>}
   */
  async function ask(path, options) {
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

  return {
    async get(path, signal) {
      return (await ask(path, signal ? { signal } : {})).json()
    },
    async send(method, path, body) {
      const response = await ask(path, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return text ? JSON.parse(text) : undefined
    },
    stream: (path, signal, body) =>
      ask(path, { signal, ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }) }),
  }
}

/** @param {Response} response */
const isForCaller = response => response.headers.get('www-authenticate') === 'Keelson-Caller-Token'

/** @param {Response} response */
async function refusalOf(response) {
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
