import { parseRaw } from '../../../src/lib/raw-json.ts'
import {
  idKey,
  type Message,
  param,
  type Request,
  readMessage,
  withId,
} from '../../../src/net/rpc-message.ts'

/** What a new session has to be told so that it continues the one that the client began. */
export interface SessionMemory {
  /** Whether the client has a session. */
  readonly known: boolean
  /** Reads a message of the client. */
  observe(message: Message): void
  /** The server has responded to `initialize`, so that there is a session. */
  confirm(): void
  /**
   * Sends the handshake, the log level and the subscriptions to a new session. `ask` returns the response to a
   * request of ours. Throws when the server refuses the handshake.
   */
  replay(
    ask: (request: Request) => Promise<string>,
    tell: (notification: Message) => Promise<void>,
  ): Promise<void>
  /** Whether a response is for a request of ours. */
  isOwn(idText: string | undefined): boolean
}

const OWN = 'keelson-proxy-stdio-'
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
const MOST_SUBSCRIPTIONS = 10_000

export function createSessionMemory(): SessionMemory {
  let asking: Request | undefined
  let opening: Request | undefined
  let initialized: Message | undefined
  let level: Request | undefined
  const subscriptions = new Map<string, Request>()
  let asked = 0

  function observeSubscription(message: Request): void {
    const uri = param(message, 'uri')
    if (typeof uri !== 'string') return
    if (message.method === 'resources/unsubscribe') subscriptions.delete(uri)
    else if (subscriptions.size < MOST_SUBSCRIPTIONS) subscriptions.set(uri, message)
  }

  /** A request of the client again, with an id of ours. */
  function again(request: Request): Request {
    const own = readMessage(withId(request, `"${OWN}${++asked}"`))
    if (own?.kind !== 'request') throw new Error('a request could not be repeated')
    return own
  }

  return {
    get known() {
      return opening !== undefined
    },
    observe(message) {
      if (message.kind === 'response') return
      if (message.kind === 'notification') {
        if (message.method === 'notifications/initialized') initialized = message
        return
      }
      if (message.method === 'initialize') {
        asking = message
      } else if (message.method === 'logging/setLevel') level = message
      else if (/^resources\/(un)?subscribe$/.test(message.method)) observeSubscription(message)
    },
    confirm() {
      opening = asking
      initialized = undefined
    },
    async replay(ask, tell) {
      if (!opening) return
      const response = readMessage(await ask(again(opening)))
      if (response?.kind !== 'response' || !response.result)
        throw new Error('the server refuses a new session')
      const notification = initialized ?? readMessage(INITIALIZED)
      if (notification) await tell(notification)
      for (const request of [...(level ? [level] : []), ...subscriptions.values()]) await ask(again(request))
    },
    isOwn: idText => idText !== undefined && idKey(idText).startsWith(`s${OWN}`),
  }
}

/** The protocol version in a response to `initialize`. */
export function agreedVersion(text: string): string | undefined {
  const message = readMessage(text)
  if (message?.kind !== 'response' || !message.result) return undefined
  const result = parseRaw(text.slice(message.result.start, message.result.end))
  const version = typeof result === 'object' && result !== null && Reflect.get(result, 'protocolVersion')
  return typeof version === 'string' && /^[\w.-]{1,64}$/.test(version) ? version : undefined
}
