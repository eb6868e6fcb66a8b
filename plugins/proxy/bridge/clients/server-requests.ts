import { METHOD_NOT_FOUND, SERVER_ERROR } from '../../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  type Notification,
  param,
  paramText,
  type Request,
  type Response,
  resultText,
  withId,
  withRequestId,
} from '../../../../src/net/rpc-message.ts'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { Calls } from '../calls/pending-calls.ts'
import type { Connection } from '../server/connection.ts'
import { chooseClient } from './choose-client.ts'
import type { Session, Sessions } from './client-sessions.ts'
import type { Owners } from './owners.ts'
import { createUnansweredRequests } from './unanswered-requests.ts'

/** The requests of the server to its clients: sampling, elicitation, roots, ping. */
export interface ServerRequests {
  /** Whether the server has ever requested something of a client. */
  readonly hasAsked: boolean
  /** Passes a request to the client it is for. Responds itself to a ping, and with an error without a client. */
  ask(request: Request, peer: Connection): void
  /** Passes the response of a client to the server. False when the server has no such request to this client. */
  respond(session: Session, response: Response): boolean
  /** Passes on that the server has cancelled a request. */
  withdraw(notification: Notification, peer: Connection): void
  /** Whether a request with this progress token of the server waits for this client. */
  hasToken(session: Session, tokenText: string): boolean
  /** Responds with errors to the requests that wait for a client that has gone. */
  drop(session: Session): void
  /** Cancels at the clients what a server process that has gone had requested. */
  clear(peer: Connection): void
}

export function createServerRequests(options: {
  limits: BridgeLimits
  calls: Calls
  sessions: Sessions
  owners: { readonly tasks: Owners<string>; readonly elicitations: Owners<string> }
  write: (text: string, peer: Connection) => boolean
  send: (session: Session, text: string) => void
}): ServerRequests {
  const { limits, calls, sessions, write, send } = options
  const { tasks, elicitations } = options.owners
  const waiting = createUnansweredRequests(limits)
  let hasAsked = false

  return {
    get hasAsked() {
      return hasAsked
    },
    ask(request, peer) {
      const refuse = (code: number, message: string) =>
        void write(errorText(request.idText, code, message), peer)
      if (request.method === 'ping') return void write(resultText(request.idText), peer)
      hasAsked = true
      const session = chooseClient(request, { calls, sessions, tasks })
      if (!session) return refuse(METHOD_NOT_FOUND, `No client can be asked for ${request.method}`)
      const asked = waiting.add(request, session, peer)
      if (!asked) return refuse(SERVER_ERROR, 'The client has too many unanswered requests')
      const elicitation = param(request, 'elicitationId')
      if (typeof elicitation === 'string') elicitations.remember(elicitation, session)
      send(session, withId(request, String(asked.id)))
    },
    respond(session, response) {
      const asked = waiting.find(Number(response.idText))
      if (asked?.session !== session) return false
      waiting.remove(asked)
      write(withId(response, asked.serverId).replaceAll(/[\r\n]+/g, ' '), asked.peer)
      return true
    },
    withdraw(notification, peer) {
      const idText = paramText(notification, 'requestId')
      const isId = idText !== undefined && /^["\d-]/.test(idText)
      const asked = isId ? waiting.ofServer(peer, idText) : undefined
      if (!asked) return
      waiting.remove(asked)
      send(asked.session, withRequestId(notification, asked.id))
    },
    hasToken: (session, tokenText) =>
      [...session.asked].some(id => waiting.find(id)?.tokenText === tokenText),
    drop(session) {
      for (const id of [...session.asked]) {
        const asked = waiting.find(id)
        if (!asked) continue
        waiting.remove(asked)
        write(errorText(asked.serverId, SERVER_ERROR, 'The client has gone'), asked.peer)
      }
    },
    clear(peer) {
      for (const asked of waiting.all()) {
        if (asked.peer !== peer) continue
        waiting.remove(asked)
        const params = JSON.stringify({ requestId: asked.id, reason: 'the server has gone' })
        send(asked.session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)
      }
    },
  }
}
