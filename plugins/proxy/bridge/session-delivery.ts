import type { Session } from './client-sessions.ts'
import type { Calls } from './pending-calls.ts'

/** Sends messages of the server to a session, on the stream where its client expects them. */
export interface SessionDelivery {
  /** On the stream of the only request it can belong to; else on the standalone stream, now or later. */
  send(session: Session, text: string): void
  /** On the standalone stream if one is open; else as `send`. For what belongs to no request. */
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
