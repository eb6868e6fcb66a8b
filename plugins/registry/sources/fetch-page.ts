import { type Failure, isFailure } from '../../../src/errors.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { type GuardedResponse, guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { type AuthLack, failures } from '../failures.ts'
import type { CachedPage } from './page-cache.ts'

/** How a registry on the network is reached. */
export interface Access {
  readonly allowPrivate: boolean
  /** A bearer token, when somebody has logged in; another one than that which was rejected. */
  readonly token?: ((rejected?: string) => Promise<string | undefined>) | undefined
  /** Whether it is set where to log in. */
  readonly hasLogin?: boolean
  readonly timeouts: Timeouts
}

export interface Timeouts {
  /** Time limit of one response: a file, a single server, a search. */
  readonly answerMs: number
  /** All pages of a list. */
  readonly listMs: number
  /** The check of an address that is to be set. */
  readonly probeMs: number
}

export const TIMEOUTS: Timeouts = { answerMs: 10_000, listMs: 60_000, probeMs: 5_000 }

const MAX_BYTES = 10 * 1024 * 1024

interface PageOptions {
  readonly timeoutMs: number
  /** The last response; the registry sends the document again only if it has changed. */
  readonly known?: CachedPage | undefined
  readonly signal?: AbortSignal | undefined
}

/** Whether a registry cannot respond now, so that its last document may be used. */
export const isPassing = (error: unknown): error is Failure =>
  isFailure(error, 'registry_unreachable') || isFailure(error, 'registry_overloaded')

/** Fetches a document; undefined when there is none (404). Other responses than success are failures. */
export async function fetchPage(
  url: string,
  access: Access,
  options: PageOptions,
): Promise<CachedPage | undefined> {
  const token = await tokenOf(url, access)
  let response = await send(url, access, options, token)
  if (response.status === 401 && token !== undefined) {
    // It may have been taken back, or the clocks differ: a new one decides.
    const other = await tokenOf(url, access, token)
    if (other !== undefined && other !== token) response = await send(url, access, options, other)
  }
  const { status } = response
  if (status === 304 && options.known) return options.known
  if (status === 404) return undefined
  if (status === 401 || status === 403) {
    throw failures.registry_auth_required({ place: url, ...refusal(status, token !== undefined, access) })
  }
  if (status === 429 || status >= 500) {
    throw failures.registry_overloaded({ place: url, status, problem: errorText(response) })
  }
  if (status !== 200) throw failures.registry_refused({ place: url, status, problem: errorText(response) })
  return {
    url,
    text: response.body.toString('utf8'),
    etag: response.header('etag'),
    last_modified: response.header('last-modified'),
  }
}

function refusal(
  status: number,
  hadToken: boolean,
  { hasLogin = false }: Access,
): { problem: string; lacks: AuthLack } {
  if (hadToken && status === 403) return { problem: 'does not allow this login (403)', lacks: 'permission' }
  if (hadToken) return { problem: 'does not take the login (401)', lacks: 'login' }
  return hasLogin
    ? { problem: 'requires a login, and there is none', lacks: 'login' }
    : { problem: 'requires a login', lacks: 'address' }
}

/** Sends a request without checking the status. Fails with `registry_unreachable` without a response. */
export async function ask(url: string, access: Access, options: PageOptions): Promise<GuardedResponse> {
  return send(url, access, options, await tokenOf(url, access))
}

/** A login that cannot be renewed now is like a registry that cannot be reached; one that is over is none. */
async function tokenOf(url: string, access: Access, rejected?: string): Promise<string | undefined> {
  try {
    return await access.token?.(rejected)
  } catch (error) {
    if (isFailure(error, 'login_over')) {
      const problem = `requires a new login. ${error.message.replace(/\.$/, '')}`
      throw failures.registry_auth_required({ place: url, problem, lacks: 'login' }, { cause: error })
    }
    if (!isFailure(error, 'issuer_unreachable')) throw error
    const problem = `its login cannot be renewed: ${error.message.replace(/\.$/, '')}`
    throw failures.registry_unreachable({ place: url, problem, kind: 'unreachable' }, { cause: error })
  }
}

async function send(
  url: string,
  access: Access,
  { timeoutMs, known, signal }: PageOptions,
  token: string | undefined,
): Promise<GuardedResponse> {
  const headers = {
    accept: 'application/json',
    'user-agent': 'keelson',
    ...(known?.etag ? { 'if-none-match': known.etag } : {}),
    ...(known?.last_modified ? { 'if-modified-since': known.last_modified } : {}),
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  }
  try {
    return await guardedFetch(url, {
      headers,
      allowPrivate: access.allowPrivate,
      timeoutMs,
      stepTimeoutMs: Math.min(timeoutMs, 10_000),
      maxBytes: MAX_BYTES,
      signal,
    })
  } catch (error) {
    if (!(error instanceof FetchProblem)) throw error
    throw failures.registry_unreachable(
      { place: url, problem: error.message, kind: error.kind },
      { cause: error },
    )
  }
}

/** `{error}` or `{message}` of a JSON response: one line of it. */
function errorText({ body }: GuardedResponse): string {
  try {
    const { error, message, title, detail } = JSON.parse(body.toString('utf8'))
    const text = [detail, message, error, title].find(part => typeof part === 'string' && part) ?? ''
    return text.split('\n')[0].slice(0, 200)
  } catch {
    return ''
  }
}
