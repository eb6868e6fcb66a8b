import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isRequest } from '../../../src/lib/json-rpc.ts'
import type { Log } from '../../../src/log.ts'
import { requestHeaders } from '../headers.ts'
import type { Opening, Session, Sessions } from '../http-sessions.ts'
import { publicBaseOf } from '../public-base.ts'
import { announcedLength, type BodyRules, hasBody, SMALL_BODY_BYTES, streamBody } from '../request-body.ts'
import { rpcRefusal } from '../request-refusal.ts'
import { revisionOf } from '../revisions/index.ts'
import { effectiveMode } from '../section.ts'
import { requestId } from '../send-refusal.ts'
import { createSlots, type Slots } from '../slots.ts'
import { endStream } from './end-stream.ts'
import { createEndpointRewriter, type MapEndpoint } from './endpoint-event.ts'
import { BackendGone, toGatewayError } from './gateway-error.ts'
import { createEndpointMap } from './map-endpoint.ts'
import { followable, MAX_REDIRECTS } from './redirect.ts'
import { type Cancel, type Outcome, type Outgoing, relay, type Watch } from './relay-http.ts'
import { reopen } from './reopen-session.ts'
import { createTargetPath, type TargetPath } from './target-path.ts'
import { untilDrained } from './until-drained.ts'

/** A server that speaks HTTP itself. */
export interface HttpBackend {
  /** The server is (now) here. Sessions of the one before are opened again when they are used. */
  connect(target: URL): void
  /**
   * Another server from now on; requests that are under way stay with the one before. Resolves when they
   * have been answered. Streams without an end, and what takes longer than `graceMs`, are broken off.
   */
  replace(target: URL, options: { graceMs: number; signal: AbortSignal }): Promise<void>
  /** Breaks off what is under way. */
  disconnect(reason: string): void
  readonly target: TargetPath | undefined
  handle(exchange: Exchange): Promise<void>
}

/** What one exchange knows on its way to the server and back. */
interface Passage {
  readonly exchange: Exchange
  /** Whom it goes to. */
  readonly server: Generation
  readonly session: Session | undefined
  /** A client's session header that must not reach the server: the request opens a session itself. */
  readonly stripSession: boolean
  readonly body: Buffer | Readable | null
}

/** Whether a request belongs to a session, or opens one itself in spite of the session header it carries. */
interface Admission {
  readonly session: Session | undefined
  readonly strip: boolean
}

/** One of the servers that are connected one after another, and what is under way at it. */
interface Generation {
  readonly target: TargetPath
  readonly epoch: number
  readonly calls: Slots<Cancel>
  /** Streams that only listen: they would never end by themselves. */
  readonly streams: Slots<Cancel>
}

const NO_SESSION: Admission = { session: undefined, strip: false }

const REOPEN_TIMEOUT_MS = 10_000

/** Carries exchanges to a server that speaks HTTP itself, local or remote, without looking into them. */
export function createHttpBackend(options: {
  config: RunConfig
  log: Log
  agent: Dispatcher
  sessions: Sessions
  remote: boolean
  headersTimeoutMs: number
  rules: BodyRules
}): HttpBackend {
  const { config, log, agent, sessions, remote, headersTimeoutMs, rules } = options
  const sse = effectiveMode(config) === 'sse'
  const trust = config.trust_proxy_headers === true
  let current: Generation | undefined
  let epoch = 0
  /** Whose stream announced it, by the endpoint as clients know it: their messages go to that server, too. */
  const endpoints = new Map<string, Generation>()

  /** The session a request belongs to, or the refusal of one we do not know. */
  async function admit(exchange: Exchange, id: string): Promise<Admission> {
    const { method } = exchange.request
    const session = sessions.find(id)
    const opens = method === 'POST' && (!session || mayInitialize(exchange)) && (await initializes(exchange))
    if (opens) return { session: undefined, strip: true }
    if (!session) throw rpcRefusal(404, -32001, 'Session not found', { id: await requestId(exchange) })
    return { session, strip: false }
  }

  /** The body, gathered if it is small. Not async, as most requests need no waiting, or once. */
  function gatherBody(exchange: Exchange): Promise<Buffer> | Buffer | Readable | null {
    if (exchange.buffered) return exchange.buffered
    const { request } = exchange
    if (!hasBody(request)) return null
    const length = announcedLength(request)
    if (length !== undefined && length <= SMALL_BODY_BYTES) return exchange.body()
    return streamBody(request, rules)
  }

  function headersFor({ exchange, server: { target }, session, stripSession, body }: Passage): string[] {
    const { request } = exchange
    const headers = requestHeaders(request, {
      targetHost: target.host,
      targetScheme: target.scheme,
      remote,
      trust,
      identity: sse && request.method === 'GET',
      forgetEvents: session?.eventsLost === true && request.method === 'GET',
      session: stripSession
        ? null
        : session && session.backendId !== session.id
          ? session.backendId
          : undefined,
    })
    const length = body && !Buffer.isBuffer(body) ? announcedLength(request) : undefined
    if (length !== undefined) headers.push('content-length', String(length))
    return headers
  }

  function openingOf({ body, session }: Passage, path: string): Opening | undefined {
    if (session || !Buffer.isBuffer(body) || !body.includes('"initialize"')) return undefined
    return { path, body }
  }

  async function attempt(
    passage: Passage,
    outgoing: Outgoing,
    hops: number,
    reopened: boolean,
  ): Promise<void> {
    const { exchange, session, server } = passage
    const { target, epoch } = server
    const replayable = outgoing.body === null || Buffer.isBuffer(outgoing.body)
    const isDelete = outgoing.method === 'DELETE'
    let next: { origin: string; path: string } | undefined

    const lost = (status: number): boolean =>
      session?.opening !== undefined &&
      session.opening.path === pathOf(outgoing.path) &&
      // Some servers say 400 for a session they do not know; after a restart that is what it means.
      (status === 404 || (status === 400 && session.epoch !== epoch)) &&
      !reopened &&
      !isDelete

    const watch: Watch = {
      take(status, headers) {
        if (status >= 300 && status < 400 && replayable && hops < MAX_REDIRECTS) {
          next = followable(status, headers, outgoing)
          if (next) return true
        }
        if (replayable && lost(status)) return true
        learn(passage, outgoing, status, headers)
        return false
      },
      replace: headers => replacedHeaders(headers, session, target),
      transform: (status, headers) =>
        sse && status === 200 && outgoing.method === 'GET' && isPlainEventStream(headers)
          ? createEndpointRewriter(
              announce(createEndpointMap(target, publicBaseOf(exchange.request, config))),
            )
          : undefined,
    }

    let announced: string | undefined
    const announce =
      (map: MapEndpoint): MapEndpoint =>
      endpoint => {
        const mapped = map(endpoint)
        announced = endpointOf(mapped)
        endpoints.set(announced, server)
        return mapped
      }

    const outcome: Outcome = await relay(agent, outgoing, {
      response: exchange.response,
      watch,
      headersTimeoutMs,
      running: outgoing.method === 'GET' ? server.streams : server.calls,
    })
    if (announced !== undefined && endpoints.get(announced) === server) endpoints.delete(announced)
    if (outcome.kind === 'done') return
    if (outcome.kind === 'failed') {
      const id = exchange.buffered ? await requestId(exchange) : undefined
      const error = toGatewayError(outcome.error, id)
      log.debug('the server did not answer in full', { error: String(outcome.error) })
      if (outcome.stream && endStream(exchange, error, { id, stream: outcome.stream, remote })) return
      throw error
    }
    if (next) {
      // undici writes `host` from the headers, and a redirect stays on its host.
      return attempt(passage, { ...outgoing, ...next }, hops + 1, reopened)
    }
    if (!session || !(await openAgain(session, outgoing, epoch))) {
      if (session) sessions.delete(session.id)
      throw rpcRefusal(404, -32001, 'Session not found', { id: await requestId(exchange) })
    }
    return attempt(passage, { ...outgoing, headers: headersFor(passage) }, hops, true)
  }

  async function openAgain(session: Session, { origin, headers }: Outgoing, at: number): Promise<boolean> {
    // Another request of the session may have opened it again while this one was under way.
    const sent = sessionHeader(headers) ?? session.id
    if (session.epoch === at && session.backendId !== sent) return true
    session.reopening ??= reopen(agent, session, { origin, headers, timeoutMs: REOPEN_TIMEOUT_MS }).then(
      opened => {
        session.reopening = undefined
        if (opened) {
          session.epoch = at
          session.eventsLost = true
          log.info('opened a session again after the server had lost it')
        }
        return opened
      },
    )
    return session.reopening
  }

  function learn(passage: Passage, outgoing: Outgoing, status: number, headers: IncomingHttpHeaders): void {
    const { session, server } = passage
    const { epoch } = server
    if (session) {
      if (outgoing.method === 'DELETE' && (status < 300 || status === 404)) sessions.delete(session.id)
      else if (status < 300) {
        // An answer of a server that has been replaced says nothing about the one that is there now.
        session.epoch = Math.max(session.epoch, epoch)
        if (outgoing.method === 'GET') session.eventsLost = false
      }
      return
    }
    const id = headers['mcp-session-id']
    if (status !== 200 || typeof id !== 'string' || id === '') return
    if (sessions.find(id)) return
    sessions.add({ id, epoch, opening: openingOf(passage, pathOf(outgoing.path)) })
  }

  function connect(url: URL): void {
    epoch++
    const target = createTargetPath(url, config, remote)
    current = { target, epoch, calls: createSlots(), streams: createSlots() }
  }

  function cut({ calls, streams }: Generation, reason: string): void {
    for (const cancel of [...calls.values(), ...streams.values()]) cancel(new BackendGone(reason))
  }

  return {
    get target() {
      return current?.target
    },
    connect,
    async replace(url, patience) {
      const before = current
      connect(url)
      if (!before) return
      // What a client of an SSE server asked is answered on its stream, so that has to stay for a while.
      const isOver = () => before.calls.size === 0 && (!sse || before.streams.size === 0)
      await untilDrained(isOver, patience)
      cut(before, 'it was replaced')
    },
    disconnect(reason) {
      if (current) cut(current, reason)
      current = undefined
    },
    async handle(exchange) {
      const { headers } = exchange.request
      const id = headers['mcp-session-id']
      const { session, strip } =
        typeof id === 'string' && revisionOf(headers['mcp-protocol-version']).sessions
          ? await admit(exchange, id)
          : NO_SESSION
      const gathered = gatherBody(exchange)
      const body = gathered instanceof Promise ? await gathered : gathered
      const server = (sse && endpoints.get(endpointOf(exchange.url))) || current
      if (!server) throw toGatewayError(new BackendGone('it was stopped'), await requestId(exchange))
      const { target } = server
      const passage: Passage = { exchange, server, session, stripSession: strip, body }
      return attempt(
        passage,
        {
          origin: target.origin,
          path: target.pathFor(exchange.url),
          method: exchange.request.method ?? 'GET',
          headers: headersFor(passage),
          body,
        },
        0,
        false,
      )
    },
  }
}

/** A large body is no `initialize`, and reading it to find out would stop it from streaming. */
const mayInitialize = (exchange: Exchange): boolean =>
  (announcedLength(exchange.request) ?? SMALL_BODY_BYTES + 1) <= SMALL_BODY_BYTES

async function initializes(exchange: Exchange): Promise<boolean> {
  // Looking for the bytes first spares parsing every other request.
  if (!(await exchange.body()).includes('"initialize"')) return false
  const message = await exchange.message()
  return isRequest(message) && message.method === 'initialize'
}

/** What tells one endpoint from another, whatever stands before it: its query, as it names the session. */
function endpointOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') : url.slice(at)
}

const pathOf = (path: string): string => path.split('?', 1)[0] as string

function sessionHeader(headers: readonly string[]): string | undefined {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.toLowerCase() === 'mcp-session-id') return headers[i + 1]
  }
  return undefined
}

const isPlainEventStream = (headers: IncomingHttpHeaders): boolean =>
  headers['content-type']?.startsWith('text/event-stream') === true &&
  (headers['content-encoding'] === undefined || headers['content-encoding'] === 'identity')

/** The client's own session id instead of a newer one, and redirects within the server as a path of ours. */
function replacedHeaders(
  headers: IncomingHttpHeaders,
  session: Session | undefined,
  target: TargetPath,
): Record<string, string> | undefined {
  let replaced: Record<string, string> | undefined
  if (session && session.backendId !== session.id && headers['mcp-session-id'] !== undefined) {
    replaced = { 'mcp-session-id': session.id }
  }
  const { location } = headers
  if (typeof location === 'string' && location.startsWith(`${target.origin}/`)) {
    replaced = { ...replaced, location: target.publicPath(location.slice(target.origin.length)) }
  }
  return replaced
}
