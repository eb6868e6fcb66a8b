/** Why a guarded request failed. */
export type FetchProblemKind =
  | 'scheme'
  | 'private'
  | 'dns'
  | 'unreachable'
  | 'tls'
  | 'timeout'
  | 'too_large'
  | 'redirect'
  | 'broken'

/** What went wrong with a guarded request; the text says it for people, without credentials. */
export class FetchProblem extends Error {
  override readonly name = 'FetchProblem'
  readonly kind: FetchProblemKind
  constructor(kind: FetchProblemKind, text: string, options?: { cause?: unknown }) {
    super(text, options)
    this.kind = kind
  }
}

const KINDS: Readonly<Record<string, readonly [FetchProblemKind, string]>> = {
  ENOTFOUND: ['dns', 'its name cannot be resolved'],
  EAI_AGAIN: ['dns', 'its name cannot be resolved now'],
  ECONNREFUSED: ['unreachable', 'it refuses connections'],
  ECONNRESET: ['broken', 'it closed the connection'],
  EHOSTUNREACH: ['unreachable', 'it cannot be reached'],
  ENETUNREACH: ['unreachable', 'it cannot be reached'],
  UND_ERR_CONNECT_TIMEOUT: ['timeout', 'it does not take the connection'],
  UND_ERR_HEADERS_TIMEOUT: ['timeout', 'it does not respond'],
  UND_ERR_BODY_TIMEOUT: ['timeout', 'its response does not end'],
  UND_ERR_SOCKET: ['broken', 'it closed the connection'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['broken', 'its response is shorter than it says'],
  UND_ERR_HEADERS_OVERFLOW: ['broken', 'its headers are too large'],
}

/** Names what went wrong with a request; the text says it without credentials. */
export function toProblem(error: unknown, url: URL, timedOutMs: number | undefined): FetchProblem {
  if (error instanceof FetchProblem) return error
  if (timedOutMs !== undefined) {
    return new FetchProblem('timeout', `${url.host} did not finish within ${timedOutMs / 1000} seconds`)
  }
  for (const cause of causes(error)) {
    if (cause instanceof FetchProblem) return cause
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    const known = KINDS[code]
    if (known) return new FetchProblem(known[0], `${url.host}: ${known[1]}`, { cause: error })
    if (/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO)/.test(code)) {
      return new FetchProblem('tls', `${url.host}: its certificate is not trusted (${code})`, {
        cause: error,
      })
    }
    if (code.startsWith('HPE_')) {
      return new FetchProblem('broken', `${url.host}: it does not respond in HTTP`, { cause: error })
    }
  }
  return new FetchProblem('broken', `${url.host}: ${error instanceof Error ? error.message : 'failed'}`, {
    cause: error,
  })
}

/** An error, what caused it, and the members of an AggregateError (one per address that was tried). */
function* causes(error: unknown): Generator<Error> {
  if (!(error instanceof Error)) return
  yield error
  if (error instanceof AggregateError) for (const inner of error.errors) yield* causes(inner)
  yield* causes(error.cause)
}
