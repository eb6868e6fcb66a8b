import { TooManyNames } from '../../../../src/lib/parse-json.ts'
import { SERVER_ERROR } from '../../../../src/net/rpc-error-codes.ts'
import { errorText, type Request, type Response } from '../../../../src/net/rpc-message.ts'
import { type ClientMetadata, withMetadata } from '../../eras/client-metadata.ts'
import { isInputRequired, readInputRequired, retryParams } from '../../eras/input-rounds.ts'
import { toLegacyResponse } from '../../eras/legacy-response.ts'
import { createFairShare } from '../../fair-share.ts'
import { SMALL_BODY_BYTES } from '../../request-body.ts'
import type { Call, Reply } from '../calls/call.ts'
import type { Calls } from '../calls/pending-calls.ts'
import type { Session } from '../clients/client-sessions.ts'
import type { AskedInputs } from './asked-inputs.ts'
import { createInputRound, createOpenedUrls } from './input-round.ts'

/** How often a call may ask. A server that never has enough would otherwise keep its client busy for ever. */
const MOST_ROUNDS = 20
const MOST_INPUTS = 100
/** How long to wait before a server is asked again about a URL that the user has opened, in milliseconds. */
const URL_WAIT_MS = 1000
const LONGEST_URL_WAIT_MS = 10_000
/** Long requests that are kept because they may be repeated, of all workloads together, in bytes. */
const longRequests = createFairShare(256 * 1024 * 1024)

/**
 * Sends a request of a client with a session to a server of 2026-07-28, which may want input of the client before it
 * goes on (multi round-trip requests). Each round repeats the request with the inputs and the state of the server.
 *
 * Undefined when too many calls or bytes wait, or no server is connected.
 */
export function startAskingCall(
  request: Request,
  options: {
    calls: Calls
    asked: AskedInputs
    now: () => number
    session: Session
    metadata: ClientMetadata
    reply: Reply
  },
): Call | undefined {
  const { calls, asked, now, session, metadata, reply } = options
  const { idText, method } = request
  const opened = createOpenedUrls()
  const round = createInputRound({ session, asked, send })
  let rounds = 0
  let urlWait = URL_WAIT_MS
  let urlsUntil: number | undefined
  let timer: NodeJS.Timeout | undefined

  function send(text: string): boolean {
    if (reply.related(text)) return true
    if (session.outbox.listening) session.outbox.send(text)
    return session.outbox.listening
  }

  function fail(problem: string): void {
    if (call) calls.respond(call, errorText(idText, SERVER_ERROR, problem))
  }

  function repeat(results: ReadonlyMap<string, string>, stateText: string | undefined): void {
    try {
      const next = withMetadata(request, metadata, retryParams(results, stateText))
      if (call && !calls.repeat(call, next)) calls.drop(call, 'gone')
    } catch (error) {
      if (!(error instanceof TooManyNames)) throw error
      fail(`The request cannot be sent again with the input: ${error.message}`)
    }
  }

  /** Until the user is done at a URL the server asks for it again (2026-07-28, URL mode elicitation). */
  function waitForUser(again: () => void): void {
    urlsUntil ??= now() + (call?.timeoutMs ?? 0)
    if (now() >= urlsUntil) return void fail('The user was not done at the URL in time')
    timer = setTimeout(again, urlWait).unref()
    urlWait = Math.min(urlWait * 2, LONGEST_URL_WAIT_MS)
  }

  function begin(response: Response): void {
    const read = readInputRequired(response, { most: MOST_INPUTS, nextId: asked.nextId })
    if (typeof read === 'string') return void fail(`The server wants input that it cannot get: ${read}`)
    const { inputs, stateText } = read
    const results = new Map<string, string>()
    const wanted = new Map<string, Request>()
    for (const [key, input] of inputs) {
      const known = opened.find(input)
      if (known === undefined) wanted.set(key, input)
      else results.set(key, known)
    }
    if (wanted.size === 0 && results.size > 0) return void waitForUser(() => repeat(results, stateText))
    rounds += 1
    if (rounds > MOST_ROUNDS) return void fail(`The server has asked for input ${MOST_ROUNDS} times`)
    if (wanted.size === 0) return void repeat(results, stateText)
    round.ask(wanted, {
      failed: fail,
      done(given) {
        for (const [key, input] of wanted) opened.note(input, given.get(key) ?? '{}')
        repeat(new Map([...results, ...given]), stateText)
      },
    })
  }

  function end(): void {
    clearTimeout(timer)
    round.withdraw()
    longRequests.give(session.holder, keptBytes)
  }

  const sent = withMetadata(request, metadata)
  const keptBytes = Math.max(0, request.text.length - SMALL_BODY_BYTES)
  if (!longRequests.take(session.holder, keptBytes)) return undefined
  const call = calls.start(sent, {
    session,
    rounds: { isInterim: isInputRequired, begin },
    reply: {
      attended: () => reply.attended(),
      related: text => reply.related(text),
      keepAlive: () => reply.keepAlive(),
      respond(text) {
        end()
        for (const completion of opened.completions()) send(completion)
        reply.respond(toLegacyResponse(text, method))
      },
      fail(failure) {
        end()
        reply.fail(failure)
      },
    },
  })
  if (!call) longRequests.give(session.holder, keptBytes)
  return call
}
