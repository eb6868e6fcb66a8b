import { parseObject } from '../../../src/lib/parse-object.ts'
import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { type GuardedResponse, guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { isLoopback } from '../../../src/net/loopback.ts'
import { failures } from './failures.ts'

const TIMEOUT_MS = 10_000
const MAX_BYTES = 512 * 1024

export interface ProviderRequest {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal | undefined
}

/** Sends a request to an endpoint of one upstream provider. Redirects are refused: they could pass secrets on. */
export type ProviderFetch = (url: string, request: ProviderRequest) => Promise<GuardedResponse>

/**
 * `mayBePrivate`: addresses of private networks are allowed. This host is allowed with it only, and plain http to this
 * host only. Fails with FetchProblem.
 */
export const createProviderFetch =
  ({
    mayBePrivate,
    ca,
  }: {
    readonly mayBePrivate: boolean
    readonly ca: string | undefined
  }): ProviderFetch =>
  (url, request) =>
    guardedFetch(url, {
      ...request,
      headers: { accept: 'application/json', 'user-agent': 'keelson', ...request.headers },
      allowPrivate: mayBePrivate,
      allowHttp: mayBePrivate && isLoopback(URL.parse(url)?.hostname ?? ''),
      timeoutMs: TIMEOUT_MS,
      stepTimeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      maxErrorBytes: MAX_BYTES,
      maxRedirects: 0,
      ca,
    })

/** Whether the user wrote a place of this machine: then it may be one. */
export const isOwnPlace = (url: string): boolean => isLoopback(URL.parse(url)?.hostname ?? '')

/**
 * The same, with the response as an object: JSON, or a form as some token endpoints send. Fails with
 * `upstream_unavailable` where the provider is not itself (5xx, 429) or responds with something else.
 */
export async function fetchObject(
  fetch: ProviderFetch,
  url: string,
  request: ProviderRequest & { readonly name: string },
): Promise<{ readonly status: number; readonly value: Readonly<Record<string, unknown>> }> {
  const { name, ...rest } = request
  const { host } = new URL(url)
  const unavailable = (problem: string, cause?: unknown) =>
    failures.upstream_unavailable({ name, problem }, { cause })
  const response = await fetch(url, rest).catch((error: unknown) => {
    throw error instanceof FetchProblem ? unavailable(error.message, error) : error
  })
  const { status, body } = response
  if (status >= 500 || status === 429) throw unavailable(`${host} responds with ${status}`)
  const isForm = response.header('content-type')?.startsWith('application/x-www-form-urlencoded')
  const text = body.toString('utf8')
  const value = isForm ? Object.fromEntries(new URLSearchParams(text)) : parseObject(text)
  if (value) return { status, value }
  throw unavailable(`${host} responds with ${status} and something other than a JSON object`)
}
