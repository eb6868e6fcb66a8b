import { clean } from '../../src/cli/output.ts'
import { Failure, messageOf } from '../../src/errors.ts'
import { LATE_MESSAGE } from '../../src/net/rpc-error-codes.ts'
import { failures } from './failures.ts'
import { RefusedRequest } from './refused-request.ts'

const PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused.',
  ECONNRESET: 'the connection was cut.',
  ENOTFOUND: 'there is no such host.',
  EAI_AGAIN: 'its host name could not be looked up.',
  EHOSTUNREACH: 'the host cannot be reached.',
  ENETUNREACH: 'the network cannot be reached.',
  UND_ERR_SOCKET: 'the connection was cut.',
}

/** Turns an error of a request to a server into a Failure. A Failure is returned unchanged. */
export function explain(
  error: unknown,
  about: { url: string; workload?: string | undefined; what: string; timeoutMs: number; late: boolean },
): unknown {
  const { url, workload, what, timeoutMs, late } = about
  if (error instanceof Failure) return error
  const causes = [...chain(error)]
  const options = { cause: error }
  if (late || causes.some(({ code }) => code === 'REQUEST_TIMEOUT'))
    return failures.mcp_timeout({ url, seconds: timeoutMs / 1000 }, options)
  const refusal = causes.find(cause => cause instanceof RefusedRequest)
  if (refusal) return explainRefusal(refusal, what)
  const status = causes.map(httpStatus).find(found => found !== undefined)
  const refused = status ?? (causes.some(({ name }) => name === 'UnauthorizedError') ? 401 : undefined)
  if (refused === 401 || refused === 403) {
    return workload === undefined
      ? failures.mcp_unauthorized({ url, status: refused }, options)
      : failures.mcp_workload_guarded({ name: workload, status: refused }, options)
  }
  const rpc = causes.find(({ code }) => typeof code === 'number' && code < 0)
  if (typeof rpc?.code === 'number') {
    const message = clean(rpc.message ?? '')
    return message.includes(LATE_MESSAGE)
      ? failures.mcp_call_late({ what }, options)
      : failures.mcp_refused({ what, message, code: rpc.code }, options)
  }
  const known = causes.map(knownProblem).find(Boolean)
  // The Fetch standard blocks the ports of other protocols ("bad port").
  const last = causes.some(cause => cause.message === 'bad port')
    ? 'no client may use its port, which belongs to another protocol.'
    : causes.some(isUnreadable)
      ? 'what it sent is not an MCP message.'
      : `${clean(causes.at(-1)?.message || messageOf(error))}.`
  const problem = known ?? (status === undefined ? last : `it responded with HTTP ${status}.`)
  return failures.mcp_unreachable({ url, problem }, options)
}

function explainRefusal(refusal: RefusedRequest, what: string): Failure {
  const { status, code = status, message, retrySeconds } = refusal
  const options = { cause: refusal }
  if (status === 429) return failures.mcp_limited({ what, seconds: retrySeconds }, options)
  if (status === 504) return failures.mcp_call_late({ what }, options)
  // The authorization of a workload says no more than that.
  if (code === 403 && message === 'Unauthorized') return failures.mcp_not_allowed({ what }, options)
  return failures.mcp_refused({ what, message: clean(message), code }, options)
}

/** Whether the server is there but takes no POST at this address: an older one that speaks SSE only (MCP 2025-11-25, transports). */
export function isNoStreamableHttp(error: unknown): boolean {
  const causes = [...chain(error)]
  if (causes.some(cause => cause instanceof RefusedRequest)) return false
  const status = causes.map(httpStatus).find(found => found !== undefined)
  return status !== undefined && status >= 400 && status < 500 && status !== 401 && status !== 403
}

/** Errors of the SDK about text that it could not read, in the words of its parsers. */
const isUnreadable = ({ name, issues }: Thrown): boolean => name === 'SyntaxError' || Array.isArray(issues)

interface Thrown {
  readonly name?: string
  readonly message?: string
  readonly code?: unknown
  readonly status?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
  readonly data?: unknown
  readonly issues?: unknown
}

/** An error and what it was caused by; the SDK keeps some causes in its data. */
function* chain(error: unknown, depth = 0): Generator<Thrown> {
  if (typeof error !== 'object' || error === null || depth > 8) return
  const thrown: Thrown = error
  yield thrown
  yield* chain(thrown.cause, depth + 1)
  if (Array.isArray(thrown.errors)) for (const one of thrown.errors) yield* chain(one, depth + 1)
  if (typeof thrown.data === 'object' && thrown.data !== null && 'cause' in thrown.data)
    yield* chain(thrown.data.cause, depth + 1)
}

/** The SDK's SSE transport keeps only the text of what went wrong, so codes are looked for there, too. */
function knownProblem({ code, message = '' }: Thrown): string | undefined {
  const found = typeof code === 'string' ? code : /\b(E[A-Z_]{4,}|UND_ERR_SOCKET)\b/.exec(message)?.[1]
  return found === undefined ? undefined : PROBLEMS[found]
}

function httpStatus({ status, data, message = '' }: Thrown): number | undefined {
  if (typeof status === 'number') return status
  if (typeof data === 'object' && data !== null && 'status' in data && typeof data.status === 'number')
    return data.status
  const inText = /status code \((\d{3})\)/.exec(message)?.[1]
  return inText === undefined ? undefined : Number(inText)
}
