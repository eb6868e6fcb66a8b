import { METHOD_NOT_FOUND } from '../../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  type Message,
  type Notification,
  paramText,
  type Request,
  readMessage,
} from '../../../../src/net/rpc-message.ts'
import { callHint } from '../../eras/call-hint.ts'
import { isForListeners } from '../../eras/listen-filter.ts'
import type { Outbox } from '../http/outbox.ts'
import type { Listener } from './listener.ts'
import type { ModernCall } from './modern-call.ts'

/** What a client of MCP 2026-07-28 has open at a server of the era of sessions. */
export interface ModernClient {
  readonly calls: Set<ModernCall>
  readonly listeners: Set<Listener>
  /** The resources that they are to be told of, with how many of them each. */
  readonly watched: Map<string, number>
  /** Gives the server the response to a request of its own. */
  readonly respond: (text: string) => void
  /** The most verbose log level that the client has asked for. */
  logLevel: string | undefined
  /** Takes what the server sends to the session of the client. */
  readonly outbox: Outbox
  /** Asks in this call for the roots that the server wanted while no call was at work. */
  askRoots(call: ModernCall): void
}

export function createModernClient(respond: ModernClient['respond']): ModernClient {
  const calls = new Set<ModernCall>()
  const listeners = new Set<Listener>()
  /** By id. Servers ask for roots when a client has come; the first call that can ask passes that on. */
  const wanted = new Map<string, Request>()

  /** The calls that a message can belong to, the likeliest first: it names one, or may be of each. */
  function candidates(message: Message): ModernCall[] {
    const hint = callHint(message)
    const all = [...calls]
    if (hint !== undefined) return all.filter(call => call.id() === hint)
    // The oldest that works, else one that has asked before.
    return [...all.filter(call => call.isAtWork()), ...all.filter(call => !call.isAtWork())]
  }

  function ask(request: Request): void {
    if (candidates(request).some(call => call.reply.related(request.text))) return
    if (request.method === 'roots/list') wanted.set(request.idText, request)
    else respond(errorText(request.idText, METHOD_NOT_FOUND, 'No call of the client can ask for input'))
  }

  function withdraw(idText: string): void {
    wanted.delete(idText)
    for (const call of calls) call.withdraw(idText)
  }

  function notify(message: Notification): void {
    if (message.method === 'notifications/cancelled') withdraw(paramText(message, 'requestId') ?? '')
    else if (isForListeners(message.method)) for (const listener of listeners) listener.send(message)
    else candidates(message).some(call => call.reply.related(message.text))
  }

  function send(text: string): void {
    const message = readMessage(text)
    if (message?.kind === 'request') ask(message)
    else if (message?.kind === 'notification') notify(message)
  }

  return {
    calls,
    listeners,
    watched: new Map(),
    respond,
    logLevel: undefined,
    askRoots(call) {
      for (const [id, request] of wanted) if (call.reply.related(request.text)) wanted.delete(id)
    },
    outbox: {
      send,
      // What belongs to no call is for the listeners, of which there may be none.
      listening: true,
      get connected() {
        return listeners.size > 0
      },
      keepAlive() {
        for (const { reply } of listeners) reply.keepAlive()
      },
      sweep() {},
      close() {
        for (const listener of [...listeners]) listener.end()
      },
      openForRequest: noStreams,
      open: noStreams,
      resume: noStreams,
    },
  }
}

/** Nobody knows the id of the session, and a reply is made without it. */
function noStreams(): never {
  throw new Error('a client of 2026-07-28 has no streams of a session')
}
