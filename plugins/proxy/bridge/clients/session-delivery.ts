import type { Calls } from '../calls/pending-calls.ts'
import type { Session } from './client-sessions.ts'

/** Sends messages of the server to a session, on the stream where its client expects them. */
export interface SessionDelivery {
  /** Sends on the stream of the only call that the message can belong to; else on the standalone stream. */
  send(session: Session, text: string): void
  /** Sends a message that belongs to no call: on the standalone stream if one is open, else as `send`. */
  sendStandalone(session: Session, text: string): void
}

export function createSessionDelivery(calls: Calls): SessionDelivery {
  function send(session: Session, text: string): void {
    const candidates = [...calls.ofSession(session)]
    const [only] = candidates
    if (candidates.length === 1 && only?.reply.related(text)) return
    if (!session.outbox.listening && candidates.some(call => call.reply.related(text))) return
    session.outbox.send(text)
  }

  return {
    send,
    sendStandalone(session, text) {
      if (session.outbox.listening) session.outbox.send(text)
      else send(session, text)
    },
  }
}
