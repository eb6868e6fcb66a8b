import { FetchProblem, type GuardedResponse, guardedFetch } from '../../../src/lib/guarded-fetch.ts'
import { failures } from '../failures.ts'
import type { CachedPage } from './cache.ts'

/** How a registry on the network is reached. */
export interface Access {
  readonly allowPrivate: boolean
  /** A bearer token, when the registry wants one and somebody has logged in. */
  readonly token?: (() => Promise<string | undefined>) | undefined
  readonly timeouts: Timeouts
}

export interface Timeouts {
  /** One answer: a file, a single server, a search. */
  readonly answerMs: number
  /** All pages of a list. */
  readonly listMs: number
  /** The look at an address that somebody wants to set. */
  readonly probeMs: number
}

export const TIMEOUTS: Timeouts = { answerMs: 10_000, listMs: 60_000, probeMs: 5_000 }

const MAX_BYTES = 10 * 1024 * 1024

interface PageOptions {
  readonly timeoutMs: number
  /** What was answered last time: asked for only if it has changed. */
  readonly known?: CachedPage | undefined
  readonly signal?: AbortSignal | undefined
}

/** Fetches a document; undefined when there is none (404). Other answers than success are failures. */
export async function fetchPage(
  url: string,
  access: Access,
  options: PageOptions,
): Promise<CachedPage | undefined> {
  const response = await ask(url, access, options)
  const { status } = response
  if (status === 304 && options.known) return options.known
  if (status === 404) return undefined
  if (status === 401 || status === 403) throw failures.registry_auth_required({ place: url })
  if (status !== 200) throw failures.registry_refused({ place: url, status, problem: errorText(response) })
  return {
    url,
    text: response.body.toString('utf8'),
    etag: response.header('etag'),
    last_modified: response.header('last-modified'),
  }
}

/** Asks without judging the status. Fails with `registry_unreachable` when there is no answer. */
export async function ask(
  url: string,
  access: Access,
  { timeoutMs, known, signal }: PageOptions,
): Promise<GuardedResponse> {
  const token = await access.token?.()
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

/** `{error}` or `{message}` of a JSON answer: one line of it. */
function errorText({ body }: GuardedResponse): string {
  try {
    const { error, message, title, detail } = JSON.parse(body.toString('utf8'))
    const text = [detail, message, error, title].find(part => typeof part === 'string' && part) ?? ''
    return text.split('\n')[0].slice(0, 200)
  } catch {
    return ''
  }
}
