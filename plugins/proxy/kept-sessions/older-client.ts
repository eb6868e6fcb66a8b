import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { type Patience, untilDrained } from '../backends/until-drained.ts'
import type { BridgedServer } from '../bridge/bridged-server.ts'
import type { Session } from '../bridge/clients/client-sessions.ts'
import { sseSession } from '../bridge/http/sse-transport.ts'
import type { MessageRouter, RouterOptions } from '../bridge/message-router.ts'
import type { ServerLink } from '../bridge/server/server-link.ts'
import { dropBodyAtEnd } from '../exchange.ts'
import { sendOwnResponse } from '../own-response.ts'
import { Refusal } from '../request-refusal.ts'
import { accept } from '../respond.ts'
import type { Rewriting } from '../rewrite/rewriting.ts'
import type { LoginWanted } from '../translated-http/response-lines.ts'
import type { Era } from './find-era.ts'
import { createOpenPosts } from './open-posts.ts'

/** What the router of one client is made with. */
export type OwnOptions = Pick<RouterOptions, 'onSession' | 'challenge'>

/** The HTTP server of one client. */
export interface ServerOfClient {
  /** Opens the connection. `onLoginWanted` is called with the id of the request that was refused. */
  attach(latest: () => Exchange, onLoginWanted: (wanted: LoginWanted, idText?: string) => boolean): ServerLink
  /** Sends a request that shows whether the server takes the latest credentials. */
  tryCredentials(router: MessageRouter): Promise<unknown>
}

/** A client of MCP 2024-11-05 to 2025-11-25 whose session the proxy keeps, before an HTTP server. */
export interface OlderClient {
  /** Of its server. */
  readonly era: Era
  /** Undefined before it has begun. */
  readonly session: Session | undefined
  /** The latest of its exchanges, whose credentials are sent. */
  readonly latest: Exchange
  /** How long the client has done nothing, in milliseconds. */
  readonly idleMs: number
  /** Whether the server refuses the credentials of the latest exchange by now. */
  isRefused(): Promise<boolean>
  handle(exchange: Exchange, rewriting: Rewriting | undefined): Promise<void>
  /** Responds to a message of HTTP+SSE on the event stream of the client. */
  respond(exchange: Exchange, text: string): void
  /** Sends a notification of the proxy. */
  notify(text: string): void
  /** A server is there, or has gone: what is in flight fails, and the session stays. */
  connect(): void
  disconnect(reason: string): void
  /** Another server is connected. Resolves when the calls at the previous one have ended; those that take longer fail. */
  replace(patience: Patience, then: 'connect' | 'end'): Promise<void>
  /** Ends the session. */
  end(reason: string): void
}

/** @param options.open makes the bridge, for this client alone */
export function createOlderClient(options: {
  first: Exchange
  era: Era
  open: (own: OwnOptions) => BridgedServer
  server: ServerOfClient
  onOpened: (session: Session, client: OlderClient) => void
  onEnded: (client: OlderClient) => void
}): OlderClient {
  const { open, server, onOpened, onEnded } = options
  let latest = options.first
  let session: Session | undefined
  let challenge: Refusal | undefined
  const posts = createOpenPosts()
  /** What a session does that opens at the previous server. */
  let afterOpening: (() => void) | undefined

  const { router, handle } = open({
    challenge: () => challenge,
    onSession: {
      opened(begun) {
        session = begun
        onOpened(begun, client)
        // The response to `initialize` goes out first.
        if (afterOpening) setImmediate(afterOpening)
      },
      closed: (_, reason) => client.end(reason),
    },
  })

  function onLoginWanted({ status, headers, body }: LoginWanted, idText?: string): boolean {
    const { 'content-type': type = 'text/plain', ...others } = headers
    const refusal = new Refusal(status, { type, body: Buffer.from(body, 'latin1') }, others)
    // The challenge is about this call: the next request may need another scope.
    if (status === 403 && headers['www-authenticate'] !== undefined && refuse(Number(idText), refusal))
      return true
    challenge = refusal
    return false
  }

  /** Ends a call with a refusal of HTTP. False when its response has begun. */
  function refuse(id: number, refusal: Refusal): boolean {
    const call = router.calls.find(id)
    const exchange = call && posts.find(call.idText)
    if (!exchange) return false
    sendOwnResponse(exchange, refusal)
    router.calls.drop(call, 'cancelled')
    return true
  }

  /** Sets `challenge` when the server refuses the latest credentials. */
  async function tryCredentials(): Promise<void> {
    challenge = undefined
    await server.tryCredentials(router)
  }

  /** Calls that wait for input of the client do not count: they go on at the next server. */
  const hasCalls = (): boolean =>
    [...router.calls.all()].some(({ isParked, timeoutMs }) => !isParked && Number.isFinite(timeoutMs))

  const client: OlderClient = {
    era: options.era,
    get session() {
      return session
    },
    get latest() {
      return latest
    },
    get idleMs() {
      return session ? router.sessions.idleMs(session) : 0
    },
    async isRefused() {
      if (challenge?.status !== 401) await tryCredentials()
      return challenge?.status === 401
    },
    async handle(exchange, rewriting) {
      latest = exchange
      dropBodyAtEnd(exchange)
      // After a refusal the next request gets the challenge, unless the credentials are good now.
      if (challenge && exchange.request.method === 'POST') await tryCredentials()
      if (challenge) throw challenge
      // `notify` tells the client of changes by policies, so its stream need not be cut for them.
      if (rewriting && exchange.request.method === 'GET') rewriting.send = () => {}
      if (exchange.request.method === 'POST') posts.add(exchange)
      await handle(exchange, rewriting)
    },
    respond(exchange, text) {
      sseSession(router, exchange).outbox.send(text)
      accept(exchange)
    },
    notify: text => router.notify(text),
    connect: () => router.server.connect(server.attach(() => latest, onLoginWanted)),
    disconnect: reason => router.server.disconnect(reason),
    async replace(patience, then) {
      const turn = () => {
        if (!session || session.closed) return
        if (then === 'connect') client.connect()
        else client.end('the new server speaks the other era')
      }
      afterOpening = turn
      await untilDrained(() => !hasCalls(), patience)
      if (!session) return
      afterOpening = undefined
      turn()
    },
    end(reason) {
      onEnded(client)
      router.close(reason)
    },
  }
  client.connect()
  return client
}
