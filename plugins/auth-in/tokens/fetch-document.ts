import type { CallerAuthConfig } from '../../../src/contracts/caller-auth.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { type GuardedRequest, guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { failures } from '../failures.ts'

const TIMEOUT_MS = 5000
const MAX_BYTES = 256 * 1024

/** Asks an identity provider for a JSON object. */
export type FetchDocument = (
  url: string,
  request?: Pick<GuardedRequest, 'method' | 'body' | 'headers'> & {
    /** Statuses that mean that the token is not known. */
    readonly invalidAt?: readonly number[]
  },
) => Promise<Readonly<Record<string, unknown>>>

/** Fails with `auth_unavailable`, because no failure of fetching makes a token invalid; `token_invalid` only at `invalidAt`. */
export function createFetchDocument(
  allowed: Pick<CallerAuthConfig, 'allowPrivateIp' | 'allowHttp' | 'ca'>,
  timeoutMs = TIMEOUT_MS,
): FetchDocument {
  const { allowPrivateIp = false, allowHttp = false, ca } = allowed
  return async (url, { invalidAt = [], ...request } = {}) => {
    const { host } = new URL(url)
    try {
      const { status, body } = await guardedFetch(url, {
        ...request,
        headers: { accept: 'application/json', ...request.headers },
        allowPrivate: allowPrivateIp,
        allowHttp,
        timeoutMs,
        stepTimeoutMs: timeoutMs,
        maxBytes: MAX_BYTES,
        ca,
      })
      if (invalidAt.includes(status)) throw failures.token_invalid({ problem: 'it is not known' })
      if (status !== 200) throw failures.auth_unavailable({ problem: `${host} responded with ${status}` })
      const document: unknown = JSON.parse(body.toString('utf8'))
      if (isObject(document)) return document
    } catch (error) {
      if (error instanceof FetchProblem) {
        throw failures.auth_unavailable({ problem: error.message }, { cause: error })
      }
      if (!(error instanceof SyntaxError)) throw error
    }
    throw failures.auth_unavailable({ problem: `${host} does not return a JSON object` })
  }
}
