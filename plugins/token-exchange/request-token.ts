import { parseObject } from '../../src/lib/parse-object.ts'
import { clean } from '../../src/lib/printable.ts'
import { FetchProblem } from '../../src/net/fetch-problem.ts'
import { type GuardedResponse, guardedFetch } from '../../src/net/guarded-fetch.ts'
import { isLoopback } from '../../src/net/loopback.ts'

/** A token endpoint that the user has named, or the metadata of an issuer that they have. */
export interface TokenEndpoint {
  readonly url: string
  /** Whether it may be at a private address. */
  readonly mayBePrivate: boolean
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** PEM certificates that are trusted besides those of the system. */
  readonly ca?: string | undefined
}

/** What a token endpoint responded with. No text holds a token or a secret. */
export type TokenResponse =
  | { readonly kind: 'issued'; readonly values: Readonly<Record<string, unknown>> }
  /** With an OAuth error code (RFC 6749, section 5.2). */
  | { readonly kind: 'refused'; readonly code: string }
  /** It may work later. */
  | { readonly kind: 'away'; readonly problem: string; readonly retrySeconds?: number | undefined }
  /** It does not speak OAuth, or may not be asked. */
  | { readonly kind: 'wrong'; readonly problem: string }

const RESPONSE_MS = 10_000
/** A response holds a few tokens. */
const MOST_BYTES = 128 * 1024
/** No endpoint may keep callers away for longer. */
const LONGEST_RETRY_SECONDS = 3600

/** Codes for troubles of the server's own (RFC 6749, section 4.1.2.1; RFC 8628, section 3.5). */
const PASSING = ['server_error', 'temporarily_unavailable', 'slow_down']
/** What a request itself may not do; asking again changes nothing. */
const REFUSED_FETCHES = ['scheme', 'private', 'redirect', 'too_large']

/** Sends a form to a token endpoint. Redirects are refused: they could pass tokens on. Throws only when aborted. */
export async function requestToken(
  endpoint: TokenEndpoint,
  form: Readonly<Record<string, string | undefined>>,
): Promise<TokenResponse> {
  const { clientId, clientSecret } = endpoint
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(form)) if (value) body.set(name, value)
  if (clientId && !clientSecret) body.set('client_id', clientId)
  try {
    const response = await guardedFetch(endpoint.url, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...(clientId && clientSecret ? { authorization: basic(clientId, clientSecret) } : {}),
      },
      body: body.toString(),
      allowPrivate: endpoint.mayBePrivate,
      allowHttp: isLoopback(URL.parse(endpoint.url)?.hostname ?? ''),
      timeoutMs: RESPONSE_MS,
      stepTimeoutMs: RESPONSE_MS,
      maxBytes: MOST_BYTES,
      maxErrorBytes: MOST_BYTES,
      maxRedirects: 0,
      ca: endpoint.ca,
    })
    return toTokenResponse(response)
  } catch (error) {
    if (!(error instanceof FetchProblem)) throw error
    const kind = REFUSED_FETCHES.includes(error.kind) ? 'wrong' : 'away'
    return { kind, problem: clean(error.message).slice(0, 300) }
  }
}

/** RFC 6749, section 2.3.1: both parts are encoded as in forms. */
function basic(id: string, secret: string): string {
  const pair = [id, secret].map(part => new URLSearchParams({ '': part }).toString().slice(1)).join(':')
  return `Basic ${Buffer.from(pair).toString('base64')}`
}

function toTokenResponse({ status, body, header }: GuardedResponse): TokenResponse {
  const values = parseObject(body.toString('utf8'))
  const code = typeof values?.error === 'string' ? toCode(values.error) : undefined
  if (status >= 500 || status === 429 || (code !== undefined && PASSING.includes(code))) {
    return {
      kind: 'away',
      problem: `it responds with ${status}`,
      retrySeconds: readRetryAfter(header('retry-after')),
    }
  }
  // Some servers send their errors with status 200.
  if (code !== undefined) return { kind: 'refused', code }
  if (status === 200 && values) return { kind: 'issued', values }
  return { kind: 'wrong', problem: `it responds with ${status}, and neither a token nor an OAuth error` }
}

/** RFC 6749, section 5.2, limits the characters; codes are shown to callers. */
const toCode = (text: string): string => text.replace(/[^\w.:/-]/g, '').slice(0, 60) || 'unnamed'

/** Seconds (RFC 9110, section 10.2.3); undefined for dates, which no token endpoint sends. */
const readRetryAfter = (value: string | undefined): number | undefined =>
  value !== undefined && /^\d{1,9}$/.test(value.trim())
    ? Math.min(Number(value), LONGEST_RETRY_SECONDS)
    : undefined
