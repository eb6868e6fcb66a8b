import { detached, parseRaw, type Span, splice } from '../../../../src/lib/raw-json.ts'
import {
  onOneLine,
  type param,
  paramSpan,
  paramText,
  type Request,
  type Response,
  readMessage,
  withId,
  withNewId,
} from '../../../../src/net/rpc-message.ts'
import { createFairShare } from '../../fair-share.ts'
import { SMALL_BODY_BYTES } from '../../request-body.ts'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { Connection } from '../server/connection.ts'
import type { Call, CallFailure, Party, Reply, Rounds } from './call.ts'
import { createCallIndex } from './call-index.ts'

/** The calls that wait for a response of the server. */
export interface Calls {
  /**
   * Sends a request under a new id. Undefined if no server is connected, or if too many calls wait: in all, or of this
   * holder.
   */
  start(
    request: Request,
    options: {
      session?: Session | undefined
      /** As of `Call`; by default that of the session. */
      holder?: string | undefined
      reply: Reply
      rounds?: Rounds
      timeoutMs?: number
    },
  ): Call | undefined
  /** Whether so many calls can start. */
  hasRoom(holder: string, count: number): boolean
  /** Sends the next round of a parked call, to the process that is connected now. False when it cannot be sent. */
  repeat(call: Call, request: Request): boolean
  /** Ends a call with a response of the proxy. */
  respond(call: Call, text: string): void
  find(id: number): Call | undefined
  all(): Iterable<Call>
  /** Starts the time-out of a call anew, because its server reported progress. */
  prolong(call: Call): void
  /**
   * Ends a call with the response of a server process. Undefined when no call at this process has the id: a late,
   * repeated or invented one.
   */
  settle(response: Response, peer: Connection): Call | undefined
  /** Ends a call with a failure and cancels it at the server. */
  abandon(call: Call, failure: CallFailure, reason: string): void
  /** Ends a call with a failure, where the server need not be told. */
  drop(call: Call, failure: CallFailure): void
  /** Ends all calls of a server process with a failure. */
  failAll(failure: CallFailure, peer: Connection): void
  /** How many calls of a server process wait for a response, without those that have no time-out. */
  awaited(peer: Connection): number
  /**
   * The only client whose call could have caused what the server now sends. `uncertain` when several could, or a
   * call that was given up: a server may go on with a call that was cancelled, and what it sends about that call
   * must reach no other client. Such a call counts until its late response, or for `givenUpMs`.
   */
  atWork(): Party | 'none' | 'uncertain'
  /** The calls of a session that may cause messages of the server. */
  ofSession(session: Session): ReadonlySet<Call>
  readonly size: number
  /** Ends the calls that have timed out, and those whose client has been gone for `resumeGraceMs`. */
  sweep(options: { keepAlive: boolean }): void
}

const SUBSCRIPTION_ID = ['_meta', 'io.modelcontextprotocol/subscriptionId']

/** It is long because all of it reads and changes the one index of calls. */
export function createCalls(options: {
  limits: BridgeLimits
  /** Milliseconds since the epoch. */
  now: () => number
  /** The server process that new calls go to. */
  peer: () => Connection
  /** Called when a call starts. */
  onStart: () => void
}): Calls {
  const { limits, now, peer, onStart } = options
  const share = createFairShare(limits.maxPending)
  const index = createCallIndex({
    now,
    givenUpMs: limits.givenUpMs,
    onRemove: call => share.give(call.holder),
  })
  const { byId, add, remove, giveUp } = index
  let lastId = 0

  function drop(call: Call, failure: CallFailure): void {
    if (byId.get(call.id) !== call) return
    if (failure === 'cancelled') giveUp(call)
    else remove(call)
    call.reply.fail(failure)
  }

  function abandon(call: Call, failure: CallFailure, reason: string): void {
    if (byId.get(call.id) !== call) return
    giveUp(call)
    // The protocol forbids to cancel `initialize` (MCP lifecycle). Its response is then skipped as late.
    if (call.method !== 'initialize' && !call.isParked) {
      const params = JSON.stringify({ requestId: call.id, reason })
      call.peer.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)
    }
    call.reply.fail(failure)
  }

  /** The server is done with this round: what it sends of it later reaches nobody. */
  function park(call: Call): void {
    lastId += 1
    index.renumber(call, lastId)
    call.isParked = true
  }

  return {
    start(
      request,
      { session, holder = session?.holder, reply, rounds, timeoutMs = limits.requestTimeoutMs },
    ) {
      if (!share.take(holder)) return undefined
      const token = paramSpan(request, '_meta', 'progressToken')
      lastId += 1
      // A slice would keep the whole long text, even after the client has got 202 and waits on another stream.
      const keep = request.text.length > SMALL_BODY_BYTES ? detached<string> : (text: string) => text
      const call: Call = {
        id: lastId,
        method: request.method,
        session,
        holder,
        idText: keep(request.idText),
        token: token && keep(request.text.slice(token.start, token.end)),
        task: paramSpan(request, 'task') !== undefined,
        reply,
        peer: peer(),
        isParked: false,
        rounds,
        timeoutMs,
        deadline: now() + timeoutMs,
        unattendedSince: undefined,
      }
      add(call)
      onStart()
      if (sendTo(call, request, token)) return call
      remove(call)
      return undefined
    },
    repeat(call, request) {
      if (byId.get(call.id) !== call) return false
      call.peer = peer()
      call.isParked = false
      call.deadline = now() + call.timeoutMs
      const token = paramSpan(request, '_meta', 'progressToken')
      return sendTo(call, request, token)
    },
    hasRoom: share.hasRoom,
    respond(call, text) {
      if (byId.get(call.id) !== call) return
      remove(call)
      call.reply.respond(text)
    },
    find: id => byId.get(id),
    all: () => byId.values(),
    prolong(call) {
      call.deadline = now() + call.timeoutMs
    },
    settle(response, from) {
      const id = response.idText === undefined ? Number.NaN : Number(response.idText)
      const call = byId.get(id)
      if (call?.peer !== from || call.isParked) {
        index.forget(id)
        return undefined
      }
      if (call.rounds?.isInterim(response)) {
        park(call)
        call.rounds.begin(response)
        return call
      }
      remove(call)
      if (call.reply.translate) call.reply.translate(response)
      else call.reply.respond(responseText(response, call))
      return call
    },
    abandon,
    drop,
    failAll(failure, of) {
      for (const call of [...byId.values()]) if (call.peer === of && !call.isParked) drop(call, failure)
      index.forget(of)
    },
    awaited(of) {
      let count = 0
      for (const call of byId.values())
        if (call.peer === of && !call.isParked && Number.isFinite(call.timeoutMs)) count++
      return count
    },
    atWork: index.atWork,
    ofSession: index.ofSession,
    get size() {
      return byId.size
    },
    sweep({ keepAlive }) {
      const time = now()
      for (const call of [...byId.values()]) {
        // A request of the server waits for the client, where a person may have to decide.
        if (call.isParked || call.session?.asked.size) call.deadline = time + call.timeoutMs
        if (call.reply.attended()) call.unattendedSince = undefined
        else call.unattendedSince ??= time
        if (call.deadline <= time) abandon(call, 'timeout', 'the request timed out')
        else if (call.unattendedSince !== undefined && time - call.unattendedSince >= limits.resumeGraceMs) {
          abandon(call, 'cancelled', 'the client has gone')
        } else if (keepAlive) call.reply.keepAlive()
      }
    },
  }
}

/** Sends the request with another id and progress token, on one line. */
function sendTo(call: Call, request: Request, token: Span | undefined): boolean {
  const id = String(call.id)
  const text = onOneLine(
    splice(request.text, [
      { span: request.id, text: id },
      { span: token, text: id },
    ]),
  )
  return call.peer.write(text, () => (token ? readMessage(text) : withNewId(request, id)))
}

/** The response for the client, with the id that the client wrote. */
function responseText(response: Response, { idText }: Call): string {
  // A response of 2026-07-28 names its subscription by the id of the request.
  const subscription = response.index.find(response.result, SUBSCRIPTION_ID)
  if (!subscription) return withId(response, idText)
  return splice(response.text, [
    { span: response.id, text: idText },
    { span: subscription, text: idText },
  ])
}

/** The text of a progress notification with the client's own token. */
export function progressFor(call: { token: string }, message: Parameters<typeof paramSpan>[0]): string {
  return splice(message.text, [{ span: paramSpan(message, 'progressToken'), text: call.token }])
}

/** The id of the call that a message of the server names at this path of its parameters. */
export function namedCall(message: Parameters<typeof param>[0], ...path: string[]): number | undefined {
  const text = paramText(message, ...path)
  if (text === undefined) return undefined
  const value = parseRaw(text)
  return typeof value === 'number' ? value : undefined
}
