import { clean } from '../../src/lib/printable.ts'
import { FetchProblem } from '../../src/net/fetch-problem.ts'
import { type GuardedResponse, guardedFetch } from '../../src/net/guarded-fetch.ts'
import { isLoopback } from '../../src/net/loopback.ts'
import { readCredentials } from './read-credentials.ts'
import { errorCodeOf } from './sts-error.ts'

/** Temporary credentials of a role. */
export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Why STS gave no credentials. No text holds the token. */
export type StsProblem =
  /** It does not accept the token, or the session. */
  | { readonly kind: 'token'; readonly code: string }
  /** The role does not trust the caller. */
  | { readonly kind: 'denied'; readonly code: string }
  | { readonly kind: 'away'; readonly problem: string }

export interface AssumeRoleRequest {
  /** Origin of the regional endpoint. */
  readonly endpoint: string
  /** Whether the user has named the endpoint, which may be private then. */
  readonly isNamed: boolean
  readonly role: string
  readonly sessionName: string
  readonly seconds: number
  readonly token: string
  /** PEM certificates that are trusted besides those of the system. */
  readonly ca: string | undefined
}

const RESPONSE_MS = 10_000
const MOST_BYTES = 64 * 1024

/** The regional endpoint of STS. */
export const stsEndpoint = (region: string): string =>
  `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`

/**
 * Gets credentials for a role with the token of a caller (STS, AssumeRoleWithWebIdentity). The call is anonymous: the
 * token is all that it carries. Throws nothing for what STS does.
 */
export async function assumeRole(request: AssumeRoleRequest): Promise<Credentials | StsProblem> {
  const { endpoint, isNamed, role, sessionName, seconds, token, ca } = request
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: sessionName,
    DurationSeconds: String(seconds),
    WebIdentityToken: token,
  })
  try {
    const response = await guardedFetch(`${endpoint}/`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: form.toString(),
      allowPrivate: isNamed,
      allowHttp: isNamed && isLoopback(URL.parse(endpoint)?.hostname ?? ''),
      timeoutMs: RESPONSE_MS,
      stepTimeoutMs: RESPONSE_MS,
      maxBytes: MOST_BYTES,
      maxErrorBytes: MOST_BYTES,
      maxRedirects: 0,
      ca,
    })
    return toResult(response)
  } catch (error) {
    if (!(error instanceof FetchProblem)) throw error
    return { kind: 'away', problem: clean(error.message).slice(0, 300) }
  }
}

/** Codes that say that STS cannot say now. */
const PASSING = ['IDPCommunicationError', 'Throttling', 'ThrottlingException', 'RequestLimitExceeded']

function toResult({ status, body }: GuardedResponse): Credentials | StsProblem {
  const text = body.toString('utf8')
  if (status === 200) {
    return readCredentials(text) ?? { kind: 'away', problem: 'its response holds no usable credentials' }
  }
  const code = errorCodeOf(text)
  if (status < 400 || status >= 500 || status === 429 || PASSING.includes(code)) {
    return { kind: 'away', problem: `it responds with ${status} (${code})` }
  }
  return { kind: code === 'AccessDenied' ? 'denied' : 'token', code }
}
