import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { memberText } from '../../../../src/lib/raw-json.ts'
import {
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  SERVER_ERROR,
  UNSUPPORTED_VERSION,
} from '../../../../src/net/rpc-error-codes.ts'
import { errorText, param, paramSpan, type Request } from '../../../../src/net/rpc-message.ts'
import { MODERN_VERSION, toDiscoverResponse } from '../../eras/discover-result.ts'
import { readInputResponses } from '../../eras/input-required.ts'
import { toLegacyRequest } from '../../eras/legacy-request.ts'
import { type ClientFacts, readClientFacts } from '../../eras/modern-meta.ts'
import { type MethodRule, ruleOf } from '../../eras/modern-methods.ts'
import { askedFor, digestOf } from '../../eras/same-request.ts'
import { allSessionsTaken, rpcRefusal } from '../../request-refusal.ts'
import { ownerOf } from '../../session-owner.ts'
import type { Call, Reply } from '../calls/call.ts'
import { rankOf } from '../clients/log-levels.ts'
import type { MessageRouter } from '../message-router.ts'
import { tellServer } from '../server/tell-server.ts'
import { listen } from './listen.ts'
import { createModernCall } from './modern-call.ts'
import { createModernSessions, type ModernSession } from './modern-sessions.ts'
import { createParkedCalls } from './parked-calls.ts'
import type { Round } from './round.ts'

/** Takes the requests of clients of MCP 2026-07-28 for a server of the era of sessions. */
export interface ModernRequests {
  /** As `ClientMessages.request`. A request that is malformed, or of no such method, is refused. */
  request(
    request: Request,
    options: { exchange: Exchange; version: string; reply: Reply },
  ): Call | 'responded' | 'busy'
}

type Outcome = ReturnType<ModernRequests['request']>

/** What one request comes with. */
export interface Asked extends ModernSession {
  readonly request: Request
  readonly rule: MethodRule
  readonly facts: ClientFacts
  readonly reply: Reply
  readonly exchange: Exchange
  /** The result of the server's `initialize`. */
  readonly initialized: string
}

export function createModernRequests(router: MessageRouter): ModernRequests {
  const { handshake, calls, messages } = router
  const sessions = createModernSessions(router)
  const parkedCalls = createParkedCalls(router)

  let serverInfo: { readonly initialized: string; readonly text: string | undefined } | undefined

  /** What a result of `initialize` says of the server, which is the same for each call. */
  function serverInfoOf(initialized: string): string | undefined {
    if (serverInfo?.initialized !== initialized)
      serverInfo = { initialized, text: memberText(initialized, 'serverInfo') }
    return serverInfo.text
  }

  function answer(reply: Reply, text: string): Outcome {
    reply.respond(text)
    return 'responded'
  }

  function setLevel(asked: Asked, level: string): void {
    const { client, initialized } = asked
    if (memberText(memberText(initialized, 'capabilities') ?? '{}', 'logging') === undefined) return
    if (client.logLevel !== undefined && rankOf(client.logLevel) <= rankOf(level)) return
    client.logLevel = level
    void tellServer(messages, asked.session, 'logging/setLevel', { level })
  }

  function forward(asked: Asked): Outcome {
    const { request, reply, facts, session, client } = asked
    const { idText } = request
    const { logLevel } = facts
    if (logLevel !== undefined && rankOf(logLevel) < 0) {
      return answer(reply, errorText(idText, INVALID_PARAMS, 'There is no such log level'))
    }
    const round: Round = { request, reply, logLevel: logLevel as string | undefined }
    if (logLevel !== undefined) setLevel(asked, String(logLevel))
    if (asked.rule.takesInput && isRetry(request)) return resume(asked, round)
    // Not that of the session, which callers without a login share. A parked call keeps nothing of the exchange.
    const holder = router.holderOf(asked.exchange)
    const modern = createModernCall({
      rule: asked.rule,
      owner: session.owner,
      first: round,
      opensUrls: session.capabilities.elicitation?.url !== undefined,
      infoText: serverInfoOf(asked.initialized),
      parkedCalls,
      respond: client.respond,
      send: (request, reply) =>
        messages.request(toLegacyRequest(request), {
          session,
          owner: session.owner,
          holder,
          reply,
        }),
      abandon: call => calls.abandon(call, 'cancelled', 'the client did not continue the call'),
      calls: client.calls,
    })
    const sent = modern.begin()
    if (typeof sent === 'object') client.askRoots(modern)
    return sent
  }

  function resume({ request, reply, session }: Asked, round: Round): Outcome {
    const refuse = (problem: string) => answer(reply, errorText(request.idText, INVALID_PARAMS, problem))
    const parked = parkedCalls.find(String(param(request, 'requestState') ?? ''), session.owner)
    if (typeof parked === 'string') return refuse(parked)
    if (parked.asks() !== digestOf(askedFor(request))) {
      return refuse('requestState is of a call with another method or other parameters')
    }
    const input = readInputResponses(request)
    if (!input) return refuse('inputResponses is not an object of results')
    return parked.resume(round, input)
  }

  const ways: Readonly<Record<MethodRule['way'], (asked: Asked) => Outcome>> = {
    discover: ({ request, reply, initialized }) =>
      answer(reply, toDiscoverResponse(request.idText, initialized)),
    listen(asked) {
      void listen(messages, asked)
      return 'responded'
    },
    removed({ request: { idText, method } }) {
      throw rpcRefusal(404, METHOD_NOT_FOUND, `${MODERN_VERSION} has no ${method}`, { idText })
    },
    forward,
  }

  return {
    request(request, { exchange, version, reply }) {
      const { idText } = request
      if (version !== MODERN_VERSION) {
        throw rpcRefusal(400, UNSUPPORTED_VERSION, `The server does not speak ${version}`, {
          idText,
          data: { supported: [MODERN_VERSION], requested: version },
        })
      }
      const facts = readClientFacts(request)
      if (typeof facts === 'string') throw rpcRefusal(400, INVALID_PARAMS, facts, { idText })
      const initialized = handshake.agreed?.result
      if (initialized === undefined) {
        throw rpcRefusal(502, SERVER_ERROR, 'The server did not respond to initialize', { idText })
      }
      const found = sessions.of({ owner: ownerOf(exchange), holder: router.holderOf(exchange) }, facts)
      if (!found) throw allSessionsTaken({ idText })
      const rule = ruleOf(request.method)
      return ways[rule.way]({ ...found, request, rule, facts, reply, exchange, initialized })
    },
  }
}

/** Such a request is never a call of its own, so that nothing is executed twice. */
const isRetry = (request: Request): boolean =>
  ['requestState', 'inputResponses'].some(name => paramSpan(request, name) !== undefined)
