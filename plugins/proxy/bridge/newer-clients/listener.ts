import type { Notification } from '../../../../src/net/rpc-message.ts'
import {
  acknowledgement,
  endOfSubscription,
  type ListenFilter,
  toListener,
} from '../../eras/listen-filter.ts'
import type { Reply } from '../calls/call.ts'

/** A `subscriptions/listen` of a client of MCP 2026-07-28 that the proxy serves. */
export interface Listener {
  readonly reply: Reply
  /** Passes a notification on when the client asked for it. */
  send(message: Notification): void
  /** Tells the client what it will hear of; until then nothing else is sent. False when the reply cannot stream. */
  acknowledge(filter: ListenFilter): boolean
  /** Ends the subscription from the side of the server. */
  end(): void
}

/** The most notifications that wait for the acknowledgement, and the most bytes of them. */
const MAX_EARLY = 1000
const MAX_EARLY_BYTES = 1024 * 1024

export function createListener({
  idText,
  reply,
  onEnd,
}: {
  /** Of the request. */
  idText: string
  reply: Reply
  onEnd: () => void
}): Listener {
  let agreed: ListenFilter | undefined
  const early: Notification[] = []
  let earlyBytes = 0

  function keep(message: Notification): void {
    if (early.length >= MAX_EARLY || earlyBytes + message.text.length > MAX_EARLY_BYTES) return
    earlyBytes += message.text.length
    early.push(message)
  }

  function send(message: Notification): void {
    const text = agreed && toListener(message, { filter: agreed, idText })
    if (text !== undefined) reply.related(text)
    else if (!agreed) keep(message)
  }

  return {
    reply,
    send,
    acknowledge(filter) {
      if (!reply.related(acknowledgement(filter, idText))) return false
      agreed = filter
      for (const message of early.splice(0)) send(message)
      return true
    },
    end() {
      onEnd()
      reply.respond(endOfSubscription(idText))
    },
  }
}
