import { INVALID_PARAMS, SERVER_ERROR } from '../../../../src/net/rpc-error-codes.ts'
import { errorText, type Request, readMessage, resultText } from '../../../../src/net/rpc-message.ts'
import { inputKey, inputRequired, toInput } from '../../eras/input-required.ts'
import type { MethodRule } from '../../eras/modern-methods.ts'
import { readResponse, toModernResponse } from '../../eras/modern-response.ts'
import { askedFor, digestOf } from '../../eras/same-request.ts'
import { isAccepted, urlInputs } from '../../eras/url-inputs.ts'
import type { SessionOwner } from '../../session-owner.ts'
import type { Call, CallFailure, Reply } from '../calls/call.ts'
import type { ParkedCalls, Parking } from './parked-calls.ts'
import { type Round, toRound } from './round.ts'

/**
 * A call of a client of MCP 2026-07-28 at a server of the era of sessions. The server waits in the middle of the
 * call for what it asks the client; the client gets that as the result of a round, and goes on with the next one.
 */
export interface ModernCall {
  /** The digest of what the client asked for; undefined until the call is parked. Its retries must ask for the same. */
  asks(): string | undefined
  /** The id that the server knows; undefined while it is not at the server. */
  id(): number | undefined
  /** Sends the call to the server. */
  begin(): Sent
  /** Where the messages of the server go that belong to the call. */
  readonly reply: Required<Reply>
  /** Whether the client waits for a response, and the server has asked for nothing yet. */
  isAtWork(): boolean
  /** Continues the parked call with the input in the next round, by key. */
  resume(round: Round, input: ReadonlyMap<string, string>): Sent
  /** Forgets a request that the server has withdrawn. */
  withdraw(idText: string): void
  /** Cancels the call, because the client did not continue it. */
  expire(): void
}

/**
 * Requests that a server sends at once do not arrive in one piece over stdio and HTTP+SSE: a round ends when none has come
 * for this long, in milliseconds. A person or a model responds to them, so that the wait does not count.
 */
const GATHER_MS = 50
/** The longest time that a round gathers requests, in milliseconds. */
const LONGEST_GATHER_MS = 500

/** The server's side of a call; else as `ClientMessages.request`. */
type Sent = Call | 'responded' | 'busy'

/** It is long because all of it reads and changes the state of the one call. */
export function createModernCall(options: {
  rule: MethodRule
  owner: SessionOwner
  first: Round
  /** Whether the client can send people to a URL. */
  opensUrls: boolean
  infoText: string | undefined
  parkedCalls: ParkedCalls
  /** Gives the server the response to a request of its own. */
  respond: (text: string) => void
  send: (request: Request, reply: Reply) => Sent
  /** Ends the call at the server. */
  abandon: (call: Call) => void
  /** Those of the client that are at the server. */
  calls: Set<ModernCall>
}): ModernCall {
  const { rule, owner, opensUrls, infoText, parkedCalls, respond, send, abandon, calls } = options
  /** The POST that waits; undefined while the call is parked, so that a long request is not kept. */
  let round: Round | undefined = options.first
  let asks: string | undefined
  let parking: Parking | undefined
  let call: Call | undefined
  let kept: { reply: (round: Round) => void; forget: () => void } | undefined
  let wantedUrls: ReadonlyMap<string, string> | undefined
  const asked = new Map<string, Request>()
  let gathering: { timer: NodeJS.Timeout; until: number } | undefined

  function refuseAsked(problem: string): void {
    for (const idText of asked.keys()) respond(errorText(idText, SERVER_ERROR, problem))
    asked.clear()
  }

  /** Responds to the POST that waits with what the client has to bring. False when too many calls are parked. */
  function askClient(inputs: ReadonlyMap<string, string>): boolean {
    parking = round && parkedCalls.park(modern, owner)
    if (!round || !parking) return false
    const { reply, request } = round
    asks ??= digestOf(askedFor(request))
    round = undefined
    call?.onEnd?.()
    if (call) call.onEnd = undefined
    reply.respond(resultText(request.idText, inputRequired(inputs, parking.state)))
    return true
  }

  /** Waits for more requests, since those that a server sends at once are asked in one round. */
  function gather(): void {
    clearTimeout(gathering?.timer)
    const until = gathering?.until ?? Date.now() + LONGEST_GATHER_MS
    const wait = Math.max(0, Math.min(GATHER_MS, until - Date.now()))
    gathering = { timer: setTimeout(park, wait), until }
  }

  function park(): void {
    clearTimeout(gathering?.timer)
    gathering = undefined
    if (!round || asked.size === 0) return
    const inputs = [...asked.values()].map(request => [inputKey(request), toInput(request)] as const)
    if (!askClient(new Map(inputs))) refuseAsked('Too many calls wait for the input of their clients')
  }

  function begin(request: Request): Sent {
    calls.add(modern)
    const sent = send(request, modern.reply)
    call = typeof sent === 'object' ? sent : undefined
    if (!call) calls.delete(modern)
    return sent
  }

  function finish(reply: (round: Round) => void, text = ''): void {
    refuseAsked('The call has ended')
    calls.delete(modern)
    if (round) {
      reply(round)
      return
    }
    const forget = parkedCalls.keep(text)
    if (forget) kept = { reply, forget }
    else parking?.end()
  }

  /** The server wants URLs opened before it takes the call, which it has not executed (MCP 2025-11-25). */
  function refused(urls: ReadonlyMap<string, string>): boolean {
    if (!opensUrls || !askClient(urls)) return false
    calls.delete(modern)
    wantedUrls = urls
    return true
  }

  const modern: ModernCall = {
    asks: () => asks,
    id: () => call?.id,
    begin: () => (round ? begin(round.request) : 'busy'),
    isAtWork: () => round !== undefined && asked.size === 0,
    reply: {
      attended: () => round?.reply.attended() ?? true,
      keepAlive: () => round?.reply.keepAlive(),
      related(text) {
        const message = readMessage(text)
        if (message?.kind !== 'request') return message?.kind === 'notification' && toRound(message, round)
        if (!rule.takesInput || kept) return false
        asked.set(message.idText, message)
        if (round) gather()
        return true
      },
      respond: text => modern.reply.translate(readResponse(text)),
      translate(response) {
        const urls = rule.takesInput ? urlInputs(response) : undefined
        if (urls && refused(urls)) return
        finish(({ reply, request: { idText } }) => {
          reply.respond(toModernResponse(response, { idText, rule, infoText }))
        }, response.text)
      },
      fail(failure: CallFailure) {
        finish(({ reply }) => reply.fail(failure))
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
        kept.reply(next)
        return 'responded'
      }
      const urls = wantedUrls
      wantedUrls = undefined
      if (urls) {
        if ([...urls.keys()].every(key => isAccepted(input.get(key)))) return begin(next.request)
        const { idText } = next.request
        next.reply.respond(
          errorText(idText, INVALID_PARAMS, 'The URL that the server requires was not opened'),
        )
        return 'responded'
      }
      for (const [idText, request] of asked) {
        const result = input.get(inputKey(request))
        if (result === undefined) continue
        asked.delete(idText)
        respond(resultText(idText, result))
      }
      // What the client left out is asked for again.
      if (asked.size > 0) setImmediate(park)
      return call ?? 'responded'
    },
    withdraw: idText => void asked.delete(idText),
    expire() {
      parking = undefined
      if (kept) kept.forget()
      else if (call && !wantedUrls) abandon(call)
    },
  }
  return modern
}
