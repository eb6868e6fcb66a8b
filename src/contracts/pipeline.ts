import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../log.ts'
import type { JsonRpcMessage } from '../net/json-rpc.ts'
import type { RunConfig } from './run-config.ts'
import type { Attachment } from './runtime.ts'

/**
 * The only statement of middleware order, outermost first. Policy judges what will be sent.
 *
 * `guard`: who may call at all. `well-known`: paths that the proxy serves itself, outside authentication.
 * `method`: HTTP methods that the server's protocol revision does not have.
 */
export const STAGES = [
  'guard',
  'well-known',
  'method',
  'audit',
  'authenticate',
  'tools',
  'telemetry',
  'limit',
  'mutate',
  'validate',
  'authorize',
  'credentials',
  'forward',
] as const
export type Stage = (typeof STAGES)[number]

/** One request and its response in a pipeline. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Path and query as they will be sent. */
  url: string
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  /** The request body, read once, at most 8 MiB (413 beyond). Not calling it lets the body stream through. */
  body(): Promise<Buffer>
  /**
   * The body as raw text, one character per byte (latin1); undefined when it is not UTF-8. Checked once. A body in
   * which a member stands twice in one object is refused (400), so that no policy judges another message than the
   * server reads.
   */
  rawText(): Promise<string | undefined>
  /** The body, checked as `rawText()` does, as one JSON-RPC message; undefined when it is not one. Parsed once. */
  message(): Promise<JsonRpcMessage | undefined>
  /** The body as it will be sent, once it has been read or replaced; undefined while it still streams. */
  readonly buffered?: Buffer | undefined
  /** Sends this body instead of the client's. */
  replaceBody(body: Buffer): void
  /** Headers that an HTTP server gets instead of the client's of that name, by lower-case name. */
  readonly ownHeaders?: ReadonlyMap<string, string | undefined> | undefined
  /** Sets one of them; undefined leaves the header out. The name is in lower case. */
  setHeader(name: string, value: string | undefined): void
  /**
   * Called when an HTTP server responds 401 or 403. Undefined: the client gets that response. A promise: it
   * gets another one; the request is sent again when the promise resolves, and refused with what it rejects with.
   */
  onRefused?: ((refusal: ServerRefusal) => Promise<void> | undefined) | undefined
}

/** The response of a server that wants other credentials. */
export interface ServerRefusal {
  readonly status: 401 | 403
  /** The headers `WWW-Authenticate` (RFC 9110, section 11.6.1), joined with commas. */
  readonly wwwAuthenticate: string | undefined
  /** Whether the request was sent again already; it is not sent a third time. */
  readonly again: boolean
}

export type Handler = (exchange: Exchange) => void | Promise<void>

export interface Middleware {
  readonly name: string
  readonly stage: Stage
  wrap(next: Handler): Handler
  /** Called when the proxy closes. */
  close?(): void
}

/** Why the credentials there are do not open the server. */
export interface AccessProblem {
  /** `unauthenticated`: somebody has to log in. `auth_retrying`: it is tried again without anybody. */
  readonly status: 'unauthenticated' | 'auth_retrying'
  /** For people. */
  readonly reason: string
}

/** What a middleware may use of its proxy. */
export interface MiddlewareContext {
  readonly log: Log
  /** Notes whether the credentials open the server; undefined: as far as is known they do. */
  setAccess(problem: AccessProblem | undefined): void
}

/** Makes a middleware for a workload, or undefined when its run config does not ask for one. */
export type MiddlewareFactory = (
  config: RunConfig,
  listener: { host: string; port: number },
  context: MiddlewareContext,
) => Promise<Middleware | undefined>

/** The server's side of a proxy. */
export type Backend =
  | {
      readonly kind: 'http'
      /** Origin and base path of the server. */
      readonly target: URL
      readonly remote: boolean
    }
  | { readonly kind: 'stdio'; readonly attachment: Attachment }

/** A server that has passed the check and can replace the running one behind a proxy. */
export interface Candidate {
  /**
   * Routes new requests to the candidate at once; sessions go on with it. Resolves when the old server has
   * responded to its requests, at the latest after `graceMs` (milliseconds) or when the signal aborts. The
   * old server can be stopped then.
   */
  promote(options: { graceMs: number; signal: AbortSignal }): Promise<void>
  /** Closes the connection to the candidate; the running server stays. */
  discard(): void
}

/** Listener, pipeline and backend of one workload. */
export interface Proxy {
  /** The port it listens on. */
  readonly port: number
  /** What clients connect to. */
  readonly url: string
  /** What its middlewares say of the credentials for the server. */
  readonly access?: AccessProblem | undefined
  /** Routes requests to this backend. Requests that wait for a backend continue. */
  connect(backend: Backend): Promise<void>
  /** The backend is gone for now: requests in flight fail, new ones wait a moment and then get 503 with `Retry-After`. */
  disconnect(reason: string): void
  /**
   * Sends `initialize` and `tools/list` to another server while the running one serves. Fails with
   * `candidate_failed` when that server returns an error or does not respond within `timeoutMs`
   * (milliseconds); the running server is not affected.
   */
  checkCandidate(backend: Backend, options: { timeoutMs: number; signal: AbortSignal }): Promise<Candidate>
  /** Resolves when the backend responds to MCP requests; fails after `timeoutMs`. Resolves at once for stdio. */
  ready(options: { timeoutMs: number; signal?: AbortSignal }): Promise<void>
  /** Closes the listener. Requests in flight have `graceMs` (milliseconds) to finish. */
  close(options?: { graceMs?: number }): Promise<void>
}

/** Opens proxies. */
export interface Proxies {
  /**
   * Listens where the run config says (`host`, `port`; port 0: any free one). Fails with `port_busy`.
   * Messages of the proxy about the workload go to `log`; `onAccess` is called when `Proxy.access` has changed.
   * `middlewares` are added to those that plugins contribute.
   */
  open(
    config: RunConfig,
    options?: {
      log?: Log
      onAccess?: (problem: AccessProblem | undefined) => void
      middlewares?: readonly MiddlewareFactory[]
    },
  ): Promise<Proxy>
}
