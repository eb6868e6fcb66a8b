import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JsonRpcMessage } from '../lib/json-rpc.ts'
import type { Log } from '../log.ts'
import type { RunConfig } from './run-config.ts'
import type { Attachment } from './runtime.ts'

/** The only statement of middleware order, outermost first. Policy judges what will be sent. */
export const STAGES = [
  'guard',
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

/** One request and its answer in a pipeline. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Path and query as they will be sent. */
  url: string
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  /** The request body, read once, at most 8 MiB (413 beyond). Not calling it lets the body stream through. */
  body(): Promise<Buffer>
  /** The body as one JSON-RPC message; undefined when it is not one. Parsed once. */
  message(): Promise<JsonRpcMessage | undefined>
  /** The body as it will be sent, once it has been read or replaced; undefined while it still streams. */
  readonly buffered?: Buffer | undefined
  /** Sends this body instead of the client's. */
  replaceBody(body: Buffer): void
}

export type Handler = (exchange: Exchange) => void | Promise<void>

export interface Middleware {
  readonly name: string
  readonly stage: Stage
  wrap(next: Handler): Handler
}

/** Makes a middleware for a workload, or undefined when its run config does not ask for one. */
export type MiddlewareFactory = (
  config: RunConfig,
  listener: { host: string; port: number },
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

/** A server that has shown that it can take the place of the one behind a proxy. */
export interface Successor {
  /**
   * Puts it behind the listener at once; sessions go on with it. Resolves when what the server before was
   * asked has been answered, at the latest after `graceMs` or when the signal aborts: then that one may go.
   */
  take(options: { graceMs: number; signal: AbortSignal }): Promise<void>
  /** Lets go of it; the server that is there stays. */
  discard(): void
}

/** Listener, pipeline and backend of one workload. */
export interface Proxy {
  /** The port it listens on. */
  readonly port: number
  /** What clients connect to. */
  readonly url: string
  /** Puts a (new) backend behind the listener. Requests that wait for one go on. */
  connect(backend: Backend): Promise<void>
  /** The backend is gone for now: new requests get 503 with `Retry-After`, waiting ones an error. */
  disconnect(reason: string): void
  /**
   * Asks another server `initialize` and for its tools, beside the one that serves. Fails with
   * `successor_unfit` when it refuses, or has not answered within `timeoutMs`; nothing has changed then.
   */
  audition(backend: Backend, options: { timeoutMs: number; signal: AbortSignal }): Promise<Successor>
  /** Resolves when the backend answers MCP; fails when it does not within `timeoutMs`. Immediate for stdio. */
  ready(options: { timeoutMs: number; signal?: AbortSignal }): Promise<void>
  /** Closes the listener; lets requests in flight finish for at most `graceMs`. */
  close(options?: { graceMs?: number }): Promise<void>
}

/** Opens proxies. */
export interface Proxies {
  /**
   * Listens where the run config says (`host`, `port`; port 0: any free one). Fails with `port_busy`.
   * What the proxy has to say about the workload goes to `log`.
   */
  open(config: RunConfig, options?: { log?: Log }): Promise<Proxy>
}
