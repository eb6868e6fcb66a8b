import { setTimeout as delay } from 'node:timers/promises'
import { Agent, type Dispatcher } from 'undici'
import { messageOf } from '../../../src/errors.ts'
import type { WorkloadAddress } from './workload-address.ts'

/** Sends HTTP requests to a workload. */
export interface WorkloadRequests {
  /**
   * Resolves with the head of the response. A request that nothing took, because the supervisor is being
   * replaced, is sent again until `patienceMs` has passed. Throws when the connection breaks.
   */
  send(request: WorkloadRequest): Promise<Dispatcher.ResponseData>
  /** Cuts all connections of its own. */
  close(): Promise<void>
}

export interface WorkloadRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  /** Raw text (see raw-json.ts). */
  readonly body?: string
  readonly signal: AbortSignal
  /** Another URL than that of the workload, e.g. the endpoint that an SSE server announced. */
  readonly url?: URL
  /** How long to try; the default is that of `createWorkloadRequests`. */
  readonly patienceMs?: number
}

const PATIENCE_MS = 60_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2000
const CONNECT_MS = 10_000

/** The request has not left this process. */
const UNSENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

/** The request may have left, and the connection ended without a response. */
const BROKEN: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** What a client reads of such a request. */
export const LOST = 'The connection to the workload was lost before it responded.'

export function createWorkloadRequests(options: {
  address: WorkloadAddress
  /** The headers by which the workload's proxy knows its user; read for each request, since they may change. */
  callerHeaders: () => Promise<Readonly<Record<string, string>>>
  patienceMs?: number
  /** Connections that others use too; absent: own ones. */
  agent?: Dispatcher
}): WorkloadRequests {
  const { address, callerHeaders, patienceMs = PATIENCE_MS } = options
  // Calls of tools and event streams last as long as they last.
  const agent =
    options.agent ??
    new Agent({ allowH2: false, headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_MS } })

  /** Undefined: nothing took the request, or the workload asks to come again later. */
  async function attempt(request: WorkloadRequest): Promise<Dispatcher.ResponseData | Error> {
    const { method, headers, body, signal, url = address.url } = request
    const response = await agent
      .request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: { ...headers, ...(await callerHeaders()) },
        signal,
        ...(body === undefined ? {} : { body: Buffer.from(body, 'latin1') }),
      })
      .catch((error: unknown) => {
        if (!isUnsent(error)) throw error
        return error
      })
    if (response instanceof Error || !isComingBack(response)) return response
    const text = await response.body.text()
    return new Error(`HTTP ${response.statusCode}: ${text.slice(0, 500)}`)
  }

  return {
    async send(request) {
      const deadline = Date.now() + (request.patienceMs ?? patienceMs)
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
        const outcome = await attempt(request)
        if (!(outcome instanceof Error)) return outcome
        if (Date.now() + pause > deadline) throw outcome
        await delay(pause, undefined, { signal: request.signal })
        await address.refresh()
      }
    },
    close: async () => void (options.agent ?? (await agent.destroy())),
  }
}

/** Whether nothing took the request, so that it can be sent again. */
export const isUnsent = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && UNSENT.has(error.code)

/** A proxy that starts, closes or waits for its server has not passed the request on. */
const isComingBack = ({ statusCode, headers }: Dispatcher.ResponseData): boolean =>
  statusCode === 503 && headers['retry-after'] !== undefined

/** Says why a request failed, in the words for a client. */
export const describeProblem = (error: unknown): string => {
  const cause = error instanceof AggregateError ? error.errors[0] : error
  if (BROKEN.has(cause?.code)) return LOST
  return messageOf(cause) || 'the connection failed'
}
