import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { NamedLists } from '../lib/named-lists.ts'
import type { Log } from '../log.ts'
import type { JsonRpcMessage } from '../net/json-rpc.ts'
import type { Caller, ResourceMetadata } from './caller-auth.ts'
import type { RunConfig } from './run-config.ts'
import type { Attachment } from './runtime.ts'
import type { PipelineMiddleware, Protocol } from './workload.ts'

/**
 * The only statement of middleware order, outermost first. Policy judges what will be sent.
 *
 * `audit`: records requests, also those that are refused. `guard`: who may call at all. `well-known`: paths that the
 * proxy serves itself, outside authentication.
 * `method`: HTTP methods that the server's protocol revision does not have.
 * `present`: what clients see and call in place of tools.
 * `credentials`: what the server is given of ours. `exchange`: tokens become others; what `credentials` has set may be
 * one of them. `sign`: how what is sent is signed is decided, so nothing may change after it.
 */
export const STAGES = [
  'audit',
  'guard',
  'well-known',
  'method',
  'authenticate',
  'present',
  'tools',
  'telemetry',
  'limit',
  'mutate',
  'validate',
  'authorize',
  'credentials',
  'exchange',
  'sign',
  'forward',
] as const
export type Stage = (typeof STAGES)[number]

/** One request and its response in a pipeline. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Path and query as they will be sent. As the body, it does not change from the stage `authorize` on. */
  url: string
  /** Who calls, set by the stage `authenticate`; undefined where nobody has to log in. */
  caller?: Caller | undefined
  /** The document that says where callers log in (RFC 9728), set with `caller`; for challenges. */
  resourceMetadata?: ResourceMetadata | undefined
  /** The exchange of the client in whose course a middleware has made this one (`MiddlewareContext.askWithin`). */
  readonly outer?: Exchange | undefined
  /** What was decided about the call by the last stage that judges calls; undefined where none did. */
  decision?: Decision | undefined
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  /** The request body, read once, at most `--max-body-size` (413 beyond). Not calling it lets the body stream through. */
  body(): Promise<Buffer>
  /**
   * The body as raw text, one character per byte (latin1); undefined when it is not UTF-8, or its
   * headers say that it is something else. Checked once. A body in
   * which a member stands twice in one object is refused (400), so that no policy judges another message than the
   * server reads.
   */
  rawText(): Promise<string | undefined>
  /** The body, checked as `rawText()` does, as one JSON-RPC message; undefined when it is not one. Parsed once. */
  message(): Promise<JsonRpcMessage | undefined>
  /** The body as it will be sent, once it has been read or replaced; undefined while it still streams. */
  readonly buffered?: Buffer | undefined
  /** Sends this body instead of the client's. Fails from the stage `authorize` on: it has judged what is sent. */
  replaceBody(body: Buffer): void
  /**
   * Responds with this JSON-RPC response (raw text) in place of the server, in the way of the transport: as JSON or
   * event with status 200, or on the event stream of HTTP+SSE.
   */
  respond(text: string): void
  /** Headers that an HTTP server gets instead of the client's of that name, by lower-case name. */
  readonly ownHeaders?: ReadonlyMap<string, string | undefined> | undefined
  /**
   * Sets one of them; undefined leaves the header out. The name is in lower case. From `authorize` on, it fails for
   * `mcp-*`, `content-*` and `transfer-encoding`.
   */
  setHeader(name: string, value: string | undefined): void
  /**
   * Returns headers for a request right before it is sent to an HTTP server, by lower-case name; they replace others.
   * It is called for each request that is sent: also for redirects, for what is sent again, and for what opens a
   * session again. Who sets it has read the body.
   */
  sign?: ((request: SentRequest) => Promise<ReadonlyMap<string, string>>) | undefined
  /**
   * Called when an HTTP server responds 401 or 403. Undefined: the client gets that response. A promise: it
   * gets another one; the request is sent again when the promise resolves, and refused with what it rejects with.
   */
  onRefused?: ((refusal: ServerRefusal) => Promise<void> | undefined) | undefined
  /**
   * Called when a call is sent to a stdio server, which can go on after the response of the exchange, or get its
   * response on another stream. What is returned is called once, when the call has ended.
   */
  followCall?: (() => () => void) | undefined
  /** Aborts when a call has taken too long: the client gets an error, the server a cancellation. */
  deadline?: AbortSignal | undefined
}

/** A request as it goes to an HTTP server. */
interface SentRequest {
  readonly method: string
  readonly url: string
  readonly body: Buffer | undefined
}

/** Whether a call may be made. */
export interface Decision {
  readonly isAllowed: boolean
  /** The ids of the policies that decided. */
  readonly policies?: readonly string[]
  /** Why, where the policies alone do not say it; for people. */
  readonly reason?: string
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

/**
 * Changes the result of a request before its client gets it. Takes and returns the raw text (src/lib/raw-json.ts) of
 * one JSON value in which no name stands twice in an object: what is not changed stays byte for byte. What it throws
 * replaces the result: the text of a Failure, else `Internal error`.
 *
 * The exchange is that of the request; of a result on another stream, that of the stream. `lists`: the lists of MCP
 * in the result, as they were found when it was checked; undefined where another middleware has changed it.
 */
export type RewriteResult = (
  result: string,
  exchange: Exchange,
  lists?: NamedLists,
) => string | Promise<string>

export interface Middleware {
  readonly name: string
  readonly stage: Stage
  /**
   * What it does here, in few words for the user, e.g. `100 calls in 1m`; never a secret. Absent: the name says all.
   * After a change, `resultsChanged` of the context has it read again.
   */
  readonly summary?: string | undefined
  /**
   * Origins that callers know the proxy by, besides its address: requests to their hosts are accepted. Those of added
   * plugins do not count.
   */
  readonly origins?: readonly string[]
  /**
   * Paths of pages for people, which it serves itself: links of other sites may lead there. Those of added plugins do
   * not count.
   */
  readonly pages?: readonly string[]
  /**
   * By JSON-RPC method, what changes the results of the server; asked for at each request. The innermost middleware
   * is the first. Only results of these methods are read, all else streams as bytes. A result that cannot be read never
   * reaches the client. Where the method of a result is not known any more, its members tell: one with `tools` is a
   * result of `tools/list`.
   */
  readonly rewrites?: ReadonlyMap<string, RewriteResult> | undefined
  wrap(next: Handler): Handler
  /**
   * Checks what it was set to against the server, once that responds after a start that a user asked for. What it
   * fails with ends the start.
   */
  verify?(options: { signal: AbortSignal }): Promise<void>
  /** Called when the server has refused (401, 403) the request without credentials by which the proxy sees whether it responds. */
  probeRefused?(): void
  /**
   * Called when the proxy closes, while requests in flight finish. A promise is awaited for a few seconds after the
   * last one.
   */
  close?(): void | Promise<void>
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
  /**
   * The tools of the server as it lists them, asked for in a session of the proxy's own. Only middlewares from the
   * stage `credentials` on see these requests. Undefined: the server wants a login that the proxy does not have. Fails
   * when the server returns an error or does not respond.
   */
  listTools(options: { signal?: AbortSignal }): Promise<readonly ListedTool[] | undefined>
  /**
   * Sends a JSON-RPC request (raw text) as the caller of an exchange would, in the same session. It is audited, and
   * passes all stages from `tools` on. Returns the response (raw text). What the server asks meanwhile is refused. Fails
   * when there is no response, and when the signal aborts, which cancels the request.
   */
  askWithin(exchange: Exchange, request: string, options: { signal: AbortSignal }): Promise<string>
  /**
   * Called when `Middleware.rewrites` changes results from now on that it did not change before, or in another way.
   * Sends the notification (a JSON-RPC message) on the event streams that can carry it, and cuts those on which
   * results could pass unchanged.
   */
  resultsChanged(notification: string): void
}

/** A tool of a list (`Tool` of MCP). */
export interface ListedTool {
  readonly name: string
  readonly [member: string]: unknown
}

/** Makes a middleware for a workload, or undefined when its run config does not ask for one. */
export type MiddlewareFactory = (
  config: RunConfig,
  listener: { host: string; port: number },
  context: MiddlewareContext,
) => Promise<Middleware | undefined>

/** Another process of a stdio server, for one client alone. */
export interface ClientInstance {
  readonly attachment: Attachment
  /** Ends the process and removes all that was made for it. Idempotent; never fails. */
  end(): Promise<void>
}

/** Starts another process of a stdio server. Fails when it cannot be started. */
export type ClientInstanceFactory = () => Promise<ClientInstance>

/** The server's side of a proxy. */
export type Backend =
  | {
      readonly kind: 'http'
      /** Origin and base path of the server. */
      readonly target: URL
      readonly remote: boolean
    }
  | {
      readonly kind: 'stdio'
      readonly attachment: Attachment
      /** Present where clients may get processes of their own. */
      readonly spawn?: ClientInstanceFactory | undefined
    }

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
  /** Its middlewares, outermost first. */
  readonly middlewares: readonly PipelineMiddleware[]
  /** What its middlewares say of the credentials for the server. */
  readonly access?: AccessProblem | undefined
  /** The eras of MCP that the server speaks, as far as it is known. */
  readonly protocol?: Protocol | undefined
  /** How many processes of the server serve one client each; undefined where all clients share one. */
  readonly clientProcesses?: number | undefined
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
  /**
   * Resolves when the backend responds to MCP requests; fails after `timeoutMs` (milliseconds). For a stdio server
   * any response counts, an error too. `ping` asks it for one, unless a client has sent a request already.
   */
  ready(options: { timeoutMs: number; signal?: AbortSignal; ping?: boolean }): Promise<void>
  /** Asks the server whether it responds. Returns what is wrong, for people; undefined: it responds. */
  findProblem(): Promise<string | undefined>
  /** Lets the middlewares check what they were set to against the server, which responds. */
  verify(options: { signal: AbortSignal }): Promise<void>
  /** Closes the listener. Requests in flight have `graceMs` (milliseconds) to finish. */
  close(options?: { graceMs?: number }): Promise<void>
}

/** Takes connections of this process itself, in place of those to the port. All middlewares see their requests. */
export interface LocalProxy {
  /**
   * Takes a connection on which one caller sends requests. `caller` is asked at each of them; undefined: the user of
   * this machine. It counts where the proxy itself has no login.
   */
  accept(connection: Duplex, caller: () => Caller | undefined): void
}

/** Opens proxies. */
export interface Proxies {
  /** The proxy of a workload; undefined where it is not open, or in another process. */
  find(workload: string): LocalProxy | undefined
  /**
   * Listens where the run config says (`host`, `port`; port 0: any free one). Fails with `port_busy`.
   * Messages of the proxy about the workload go to `log`; `onAccess` is called when `Proxy.access` has changed.
   * `onMiddlewares` is called when what `Proxy.middlewares` says may have changed, `onProtocol` when
   * `Proxy.protocol` has, `onProcesses` when `Proxy.clientProcesses` has.
   * `middlewares` are added to those that plugins contribute.
   */
  open(
    config: RunConfig,
    options?: {
      log?: Log
      onAccess?: (problem: AccessProblem | undefined) => void
      onMiddlewares?: () => void
      onProtocol?: () => void
      onProcesses?: () => void
      middlewares?: readonly MiddlewareFactory[]
    },
  ): Promise<Proxy>
}
