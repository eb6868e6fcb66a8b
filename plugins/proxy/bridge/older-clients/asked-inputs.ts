import { idKey, type Request, type Response } from '../../../../src/net/rpc-message.ts'
import type { Session } from '../clients/client-sessions.ts'

/** What clients with a session are asked for on behalf of a server of 2026-07-28. */
export interface AskedInputs {
  /** Returns the raw id of the next request to a client. Those of a server are numbers, so it is a text. */
  nextId(): string
  /** `take` gets the response of the client. */
  add(input: Request, asked: { session: Session; take: (response: Response) => void }): void
  remove(idText: string): void
  /** Takes the response of a client. False when the client was not asked. */
  respond(session: Session, response: Response): boolean
}

export function createAskedInputs(): AskedInputs {
  const byKey = new Map<string, { session: Session; take: (response: Response) => void }>()
  let lastId = 0
  return {
    nextId() {
      lastId += 1
      return `"input-${lastId}"`
    },
    add: (input, asked) => void byKey.set(idKey(input.idText), asked),
    remove: idText => void byKey.delete(idKey(idText)),
    respond(session, response) {
      if (response.idText === undefined) return false
      const key = idKey(response.idText)
      const asked = byKey.get(key)
      if (asked?.session !== session) return false
      byKey.delete(key)
      asked.take(response)
      return true
    },
  }
}
