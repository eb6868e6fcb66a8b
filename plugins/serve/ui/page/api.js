/** What the API refused, in its own words. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/**
 * @typedef {object} Api
 * @property {(path: string, signal?: AbortSignal) => Promise<any>} get  reads a document
 * @property {(method: string, path: string, body?: unknown) => Promise<any>} send  changes something
 * @property {(path: string, signal: AbortSignal) => Promise<Response>} stream  opens a stream of events
 */

/**
 * Speaks to the server this page came from. Where callers log in, `askToken` is asked for a token,
 * which is kept in this closure and nowhere else; undefined: the user has none.
 * @param {() => Promise<string | undefined>} askToken
 * @returns {Api}
 */
export function createApi(askToken) {
  /** @type {string | undefined} */
  let token
  /** @type {Promise<string | undefined> | undefined} */
  let asking

  /**
   * @param {string} path
   * @param {RequestInit} options
   * @returns {Promise<Response>}
   */
  async function ask(path, options) {
    const used = token
    const headers = used ? { authorization: `Bearer ${used}` } : undefined
    const response = await fetch(path, { ...options, ...(headers ? { headers } : {}) }).catch(error => {
      if (options.signal?.aborted) throw error
      throw new Refusal(0, 'The server cannot be reached. Does “keelson serve” still run?')
    })
    if (response.ok) return response
    if (response.status !== 401) throw new Refusal(response.status, await problemOf(response))
    // Several requests may be refused at a time; the user is asked once.
    if (used === token) {
      asking ??= askToken().finally(() => {
        asking = undefined
      })
      const given = await asking
      if (!given) throw new Refusal(401, 'This server wants to know who you are: it needs a token.')
      token = given
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
    stream: (path, signal) => ask(path, { signal }),
  }
}

/** @param {Response} response */
async function problemOf(response) {
  const text = (await response.text()).trim()
  try {
    const { message, error_description: description } = JSON.parse(text) // the latter from the login
    if (typeof (message ?? description) === 'string') return message ?? description
  } catch {
    // most failures are text
  }
  return text || `The server answered ${response.status}.`
}
