import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isRequest } from '../../../src/lib/json-rpc.ts'
import type { Log } from '../../../src/log.ts'
import { announcedLength, type BodyRules, hasBody, SMALL_BODY_BYTES, streamBody } from '../body.ts'
import { requestHeaders } from '../headers.ts'
import { publicBaseOf } from '../public-base.ts'
import { rpcRefusal } from '../refusal.ts'
import { requestId } from '../reply.ts'
import { revisionOf } from '../revisions/index.ts'
import { effectiveMode } from '../section.ts'
import type { Opening, Session, Sessions } from '../sessions.ts'
import { createSlots } from '../slots.ts'
import { endStream } from './end-stream.ts'
import { createEndpointRewriter } from './endpoint-event.ts'
import { BackendGone, toGatewayError } from './gateway-error.ts'
import { createEndpointMap } from './map-endpoint.ts'
import { followable, MAX_REDIRECTS } from './redirect.ts'
import { type Cancel, type Outcome, type Outgoing, relay, type Watch } from './relay.ts'
import { reopen } from './reopen.ts'
import { createTargetPath, type TargetPath } from './target-path.ts'

/** A server that speaks HTTP itself. */
export interface HttpBackend {
  /** The server is (now) here. Sessions of the one before are opened again when they are used. */
  connect(target: URL): void
  /** Breaks off what is under way. */
  disconnect(reason: string): void
  readonly target: TargetPath | undefined
  handle(exchange: Exchange): Promise<void>
}

/** What one exchange knows on its way to the server and back. */
interface Passage {
  readonly exchange: Exchange
  readonly target: TargetPath
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
  const running = createSlots<Cancel>()
  let target: TargetPath | undefined
  let epoch = 0

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

  function headersFor({ exchange, target, session, stripSession, body }: Passage): string[] {
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
    const { exchange, session, target } = passage
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
          ? createEndpointRewriter(createEndpointMap(target, publicBaseOf(exchange.request, config)))
          : undefined,
    }

    const outcome: Outcome = await relay(agent, outgoing, {
      response: exchange.response,
      watch,
      headersTimeoutMs,
      running,
    })
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
    if (!session || !(await openAgain(session, outgoing))) {
      if (session) sessions.delete(session.id)
      throw rpcRefusal(404, -32001, 'Session not found', { id: await requestId(exchange) })
    }
    return attempt(passage, { ...outgoing, headers: headersFor(passage) }, hops, true)
  }

  async function openAgain(session: Session, { origin, headers }: Outgoing): Promise<boolean> {
    // Another request of the session may have opened it again while this one was under way.
    const sent = sessionHeader(headers) ?? session.id
    if (session.epoch === epoch && session.backendId !== sent) return true
    const at = epoch
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
    const { session } = passage
    if (session) {
      if (outgoing.method === 'DELETE' && (status < 300 || status === 404)) sessions.delete(session.id)
      else if (status < 300) {
        session.epoch = epoch
        if (outgoing.method === 'GET') session.eventsLost = false
      }
      return
    }
    const id = headers['mcp-session-id']
    if (status !== 200 || typeof id !== 'string' || id === '') return
    if (sessions.find(id)) return
    sessions.add({ id, epoch, opening: openingOf(passage, pathOf(outgoing.path)) })
  }

  return {
    get target() {
      return target
    },
    connect(url) {
      target = createTargetPath(url, config, remote)
      epoch++
    },
    disconnect(reason) {
      target = undefined
      for (const cancel of running.values()) cancel(new BackendGone(reason))
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
      if (!target) throw toGatewayError(new BackendGone('it was stopped'), await requestId(exchange))
      const passage: Passage = { exchange, target, session, stripSession: strip, body }
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
