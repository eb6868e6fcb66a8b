import {
  onOneLine,
  type param,
  paramSpan,
  paramText,
  type Request,
  type Response,
  withId,
} from '../message.ts'
import { findSpan, parseRaw, splice } from '../raw-json.ts'
import type { BridgeLimits } from './bridge-limits.ts'
import { createCallIndex } from './call-index.ts'
import type { Session } from './client-sessions.ts'
import type { Connection } from './connection.ts'

/** Why a request gets no answer of the server. */
export type CallFailure = 'timeout' | 'gone' | 'cancelled' | 'oversize'

/** The client's side of a request: where its answer goes. */
export interface Reply {
  /** Sends a message that belongs to the request. False when this kind of answer has no room for one. */
  related(text: string): boolean
  answer(text: string): void
  fail(failure: CallFailure): void
  /** Whether the client still listens. */
  readonly attended: boolean
  /** A comment that keeps the connection open, where nobody else sends one. */
  keepAlive(): void
}

/** A request on its way: sent to the server, not yet answered. */
export interface Call {
  /** The id (and progress token) that the server knows it by; never used again. */
  readonly id: number
  readonly method: string
  readonly session: Session | undefined
  readonly idText: string
  /** The client's progress token as it was written. */
  readonly token: string | undefined
  /** Answered by a task that lives on (2025-11-25). */
  readonly task: boolean
  readonly reply: Reply
  /** The server process that was asked. */
  readonly peer: Connection
  readonly timeoutMs: number
  deadline: number
  unattendedSince: number | undefined
}

/** Who works with the server: a session, or a request without one. */
export type Party = { readonly session: Session } | { readonly call: Call }

export interface Calls {
  /** Sends a request on under an id of ours. Undefined when too many wait, or the server is not there. */
  start(
    request: Request,
    options: { session?: Session | undefined; reply: Reply; timeoutMs?: number },
  ): Call | undefined
  find(id: number): Call | undefined
  /** Something moves: the time for an answer starts anew. */
  prolong(call: Call): void
  /** Answers a call. Undefined when the id is nobody's: late, repeated or made up. */
  settle(response: Response): Call | undefined
  /** Gives a call up and tells the server so. */
  abandon(call: Call, failure: CallFailure, reason: string): void
  /** Gives a call up of which the server knows already. */
  drop(call: Call, failure: CallFailure): void
  /** Gives up all that this process was asked. */
  failAll(failure: CallFailure, peer: Connection): void
  /** How many answers of this process are awaited that will come some day. */
  awaited(peer: Connection): number
  /** The only one whose request could be behind what the server now sends; `none` or `several` otherwise. */
  atWork(): Party | 'none' | 'several'
  /** Calls of a party that may cause messages of the server. */
  ofSession(session: Session): ReadonlySet<Call>
  readonly size: number
  /** Gives up what took too long, or what nobody waits for. */
  sweep(options: { keepAlive: boolean }): void
}

const SUBSCRIPTION_ID = ['_meta', 'io.modelcontextprotocol/subscriptionId']

export function createCalls(options: {
  limits: BridgeLimits
  now: () => number
  /** Whom to ask now. */
  peer: () => Connection
  /** There is something to watch from now on. */
  onStart: () => void
}): Calls {
  const { limits, now, peer, onStart } = options
  const index = createCallIndex()
  const { byId, add, remove } = index
  let lastId = 0

  function abandon(call: Call, failure: CallFailure, reason: string): void {
    if (byId.get(call.id) !== call) return
    remove(call)
    // The protocol forbids to cancel this one (MCP lifecycle); its answer will find nobody.
    if (call.method !== 'initialize') {
      const params = JSON.stringify({ requestId: call.id, reason })
      call.peer.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)
    }
    call.reply.fail(failure)
  }

  return {
    start(request, { session, reply, timeoutMs = limits.requestTimeoutMs }) {
      if (byId.size >= limits.maxPending) return undefined
      const token = paramSpan(request, '_meta', 'progressToken')
      const id = lastId + 1
      lastId = id
      const text = splice(request.text, [
        { span: request.id, text: String(id) },
        { span: token, text: String(id) },
      ])
      const call: Call = {
        id,
        method: request.method,
        session,
        idText: request.idText,
        token: token && request.text.slice(token.start, token.end),
        task: paramSpan(request, 'task') !== undefined,
        reply,
        peer: peer(),
        timeoutMs,
        deadline: now() + timeoutMs,
        unattendedSince: undefined,
      }
      add(call)
      onStart()
      if (call.peer.write(onOneLine(text))) return call
      remove(call)
      return undefined
    },
    find: id => byId.get(id),
    prolong(call) {
      call.deadline = now() + call.timeoutMs
    },
    settle(response) {
      const id = response.idText === undefined ? Number.NaN : Number(response.idText)
      const call = byId.get(id)
      if (!call) return undefined
      remove(call)
      // 2026-07-28 names the subscription by its request's id, in the answer too.
      const subscription = findSpan(response.text, response.result, SUBSCRIPTION_ID)
      call.reply.answer(
        subscription
          ? splice(response.text, [
              { span: response.id, text: call.idText },
              { span: subscription, text: call.idText },
            ])
          : withId(response, call.idText),
      )
      return call
    },
    abandon,
    drop(call, failure) {
      if (byId.get(call.id) !== call) return
      remove(call)
      call.reply.fail(failure)
    },
    failAll(failure, of) {
      for (const call of [...byId.values()]) {
        if (call.peer !== of) continue
        remove(call)
        call.reply.fail(failure)
      }
    },
    awaited(of) {
      let count = 0
      for (const call of byId.values()) if (call.peer === of && Number.isFinite(call.timeoutMs)) count++
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
        // A person may be thinking about a question of the server.
        if (call.session?.asked.size) call.deadline = time + call.timeoutMs
        if (call.reply.attended) call.unattendedSince = undefined
        else call.unattendedSince ??= time
        if (call.deadline <= time) abandon(call, 'timeout', 'the request timed out')
        else if (call.unattendedSince !== undefined && time - call.unattendedSince >= limits.resumeGraceMs) {
          abandon(call, 'cancelled', 'the client has gone')
        } else if (keepAlive) call.reply.keepAlive()
      }
    },
  }
}

/** A progress notification as the client knows it: its own token, type and all. */
export function progressFor(call: { token: string }, message: Parameters<typeof paramSpan>[0]): string {
  return splice(message.text, [{ span: paramSpan(message, 'progressToken'), text: call.token }])
}

/** Our id, where a message of the server names a request of a client. */
export function namedCall(message: Parameters<typeof param>[0], ...path: string[]): number | undefined {
  const text = paramText(message, ...path)
  if (text === undefined) return undefined
  const value = parseRaw(text)
  return typeof value === 'number' ? value : undefined
}
