import { splice } from '../../../src/lib/raw-json.ts'
import { SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  type Notification,
  param,
  paramSpan,
  type Request,
  readMessage,
  resultText,
} from '../../../src/net/rpc-message.ts'
import { inputKey, inputRequired } from '../eras/input-required.ts'
import type { MethodRule } from '../eras/methods.ts'
import { readResponse, toModernResponse } from '../eras/modern-response.ts'
import type { SessionOwner } from '../session-owner.ts'
import type { Call, CallFailure, Reply } from './call.ts'
import { rankOf } from './log-levels.ts'
import type { ParkedCalls, Parking } from './parked-calls.ts'

/** One POST of a client: the call itself, or a retry that brings the input it was asked for. */
export interface Round {
  readonly request: Request
  readonly reply: Reply
  /** The least severe log messages that the client wants; undefined: none. */
  readonly logLevel: string | undefined
}

/**
 * A call of a client of MCP 2026-07-28 at a server of the era of sessions. The server waits in the middle of the
 * call for what it asks the client; the client gets that as the result of a round, and goes on with the next one.
 */
export interface ModernCall {
  /** What the client asked for; its retries must ask for the same. */
  readonly request: Request
  /** The server's side of the call. */
  call: Call | undefined
  /** Where the messages of the server go that belong to the call. */
  readonly reply: Reply
  /** Whether the client waits for a response, and the server has asked for nothing yet. */
  readonly isAtWork: boolean
  /** Continues the parked call with the input in the next round, by key. */
  resume(round: Round, input: ReadonlyMap<string, string>): void
  /** Forgets a request that the server has withdrawn. */
  withdraw(idText: string): void
  /** Cancels the call, because the client did not continue it. */
  expire(): void
}

/** It is long because all of it reads and changes the state of the one call. */
export function createModernCall(options: {
  rule: MethodRule
  owner: SessionOwner
  first: Round
  infoText: string | undefined
  parkedCalls: ParkedCalls
  /** Gives the server the response to a request of its own. */
  respond: (text: string) => void
  /** Ends the call at the server. */
  abandon: (call: Call) => void
  onEnd: () => void
}): ModernCall {
  const { rule, owner, infoText, parkedCalls, respond, abandon, onEnd } = options
  /** The POST that waits; undefined while the call is parked. */
  let round: Round | undefined = options.first
  let parking: Parking | undefined
  let kept: { send: (reply: Reply, idText: string) => void; forget: () => void } | undefined
  const asked = new Map<string, Request>()

  function refuseAsked(problem: string): void {
    for (const idText of asked.keys()) respond(errorText(idText, SERVER_ERROR, problem))
    asked.clear()
  }

  function park(): void {
    if (!round || asked.size === 0) return
    parking = parkedCalls.park(modern, owner)
    if (!parking) {
      refuseAsked('Too many calls wait for the input of their clients')
      return
    }
    const { reply, request } = round
    round = undefined
    modern.call?.onEnd?.()
    if (modern.call) modern.call.onEnd = undefined
    reply.respond(resultText(request.idText, inputRequired(asked.values(), parking.state)))
  }

  function finish(send: (reply: Reply, idText: string) => void, text = ''): void {
    refuseAsked('The call has ended')
    onEnd()
    if (round) {
      send(round.reply, round.request.idText)
      return
    }
    const forget = parkedCalls.keep(text)
    if (forget) kept = { send, forget }
    else parking?.end()
  }

  const modern: ModernCall = {
    request: options.first.request,
    call: undefined,
    get isAtWork() {
      return round !== undefined && asked.size === 0
    },
    reply: {
      get attended() {
        return round?.reply.attended ?? true
      },
      keepAlive: () => round?.reply.keepAlive(),
      related(text) {
        const message = readMessage(text)
        if (message?.kind !== 'request') return message?.kind === 'notification' && toRound(message, round)
        if (!rule.takesInput || kept) return false
        asked.set(message.idText, message)
        // The requests that a server sends at once are asked in one round.
        if (asked.size === 1) setImmediate(park)
        return true
      },
      respond(text) {
        const response = readResponse(text)
        finish((reply, idText) => reply.respond(toModernResponse(response, { idText, rule, infoText })), text)
      },
      fail(failure: CallFailure) {
        finish(reply => reply.fail(failure))
        // Its client is gone, or has not continued it.
        if (failure === 'cancelled') parking?.end()
      },
    },
    resume(next, input) {
      parking?.end()
      parking = undefined
      round = next
      if (kept) {
        kept.forget()
        kept.send(next.reply, next.request.idText)
        return
      }
      for (const [idText, request] of asked) {
        const result = input.get(inputKey(request))
        if (result === undefined) continue
        asked.delete(idText)
        respond(resultText(idText, result))
      }
      // What the client left out is asked for again.
      if (asked.size > 0) setImmediate(park)
    },
    withdraw: idText => void asked.delete(idText),
    expire() {
      parking = undefined
      if (kept) kept.forget()
      else if (modern.call) abandon(modern.call)
    },
  }
  return modern
}

/** Passes a notification to the POST that waits. False when it is not for this call, or nobody waits. */
function toRound(message: Notification, round: Round | undefined): boolean {
  if (!round) return false
  switch (message.method) {
    case 'notifications/progress': {
      const token = paramSpan(round.request, '_meta', 'progressToken')
      if (!token) return false
      const text = round.request.text.slice(token.start, token.end)
      return round.reply.related(splice(message.text, [{ span: paramSpan(message, 'progressToken'), text }]))
    }
    case 'notifications/message':
      return admits(round, message) && round.reply.related(message.text)
    // Only in older revisions.
    case 'notifications/elicitation/complete':
    case 'notifications/tasks/status':
      return false
    default:
      return round.reply.related(message.text)
  }
}

/** A client gets the log messages of a request only with a level in the request (MCP 2026-07-28, logging). */
const admits = ({ logLevel }: Round, message: Notification): boolean =>
  logLevel !== undefined && rankOf(param(message, 'level')) >= rankOf(logLevel)
