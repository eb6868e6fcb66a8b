import { detached } from '../../../src/lib/raw-json.ts'
import { METHOD_NOT_FOUND, SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  idKey,
  type Notification,
  param,
  paramText,
  type Request,
  type Response,
  resultText,
  withId,
  withRequestId,
} from '../../../src/net/rpc-message.ts'
import type { BridgeLimits } from './bridge-limits.ts'
import { chooseClient } from './choose-client.ts'
import type { Session, Sessions } from './client-sessions.ts'
import type { Connection } from './connection.ts'
import type { Owners } from './owners.ts'
import type { Calls } from './pending-calls.ts'

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

/** A request of the server that waits for the response of a client. */
interface ServerRequest {
  /** The id that the client knows. */
  readonly id: number
  /** The id that the server chose. */
  readonly serverId: string
  readonly session: Session
  /** The server process that sent the request. */
  readonly peer: Connection
  readonly tokenText: string | undefined
  /** How long the request is. */
  readonly bytes: number
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
  const byId = new Map<number, ServerRequest>()
  /** By server process, and by the id that it chose. */
  const byServerId = new WeakMap<Connection, Map<string, ServerRequest>>()
  let lastId = 0
  let hasAsked = false
  /** Of all requests that wait. */
  let bytes = 0

  /** Whether one more request may wait for the client. The only one of a client may be of any length. */
  function hasRoom({ asked }: Session, { text }: Request): boolean {
    let own = text.length
    for (const id of asked) own += byId.get(id)?.bytes ?? 0
    const fits = asked.size < limits.maxServerRequests && own <= limits.maxEventBytes
    return (asked.size === 0 || fits) && bytes + text.length <= limits.maxTotalEventBytes
  }

  function add(request: Request, session: Session, peer: Connection): ServerRequest {
    lastId += 1
    const asked: ServerRequest = {
      id: lastId,
      serverId: detached(request.idText),
      session,
      peer,
      tokenText: detached(paramText(request, '_meta', 'progressToken')),
      bytes: request.text.length,
    }
    bytes += asked.bytes
    byId.set(asked.id, asked)
    const ids = byServerId.get(peer) ?? new Map<string, ServerRequest>()
    byServerId.set(peer, ids.set(idKey(asked.serverId), asked))
    session.asked.add(asked.id)
    return asked
  }

  function remove(asked: ServerRequest): void {
    byId.delete(asked.id)
    bytes -= asked.bytes
    asked.session.asked.delete(asked.id)
    const key = idKey(asked.serverId)
    const ids = byServerId.get(asked.peer)
    if (ids?.get(key) === asked) ids.delete(key)
  }

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
      if (!hasRoom(session, request)) {
        return refuse(SERVER_ERROR, 'The client has too many unanswered requests')
      }
      const asked = add(request, session, peer)
      const elicitation = param(request, 'elicitationId')
      if (typeof elicitation === 'string') elicitations.remember(elicitation, session)
      send(session, withId(request, String(asked.id)))
    },
    respond(session, response) {
      const asked = byId.get(Number(response.idText))
      if (asked?.session !== session) return false
      remove(asked)
      write(withId(response, asked.serverId).replaceAll(/[\r\n]+/g, ' '), asked.peer)
      return true
    },
    withdraw(notification, peer) {
      const idText = paramText(notification, 'requestId')
      const ids = byServerId.get(peer)
      const asked = idText !== undefined && /^["\d-]/.test(idText) ? ids?.get(idKey(idText)) : undefined
      if (!asked) return
      remove(asked)
      send(asked.session, withRequestId(notification, asked.id))
    },
    hasToken: (session, tokenText) => [...session.asked].some(id => byId.get(id)?.tokenText === tokenText),
    drop(session) {
      for (const id of [...session.asked]) {
        const asked = byId.get(id)
        if (!asked) continue
        remove(asked)
        write(errorText(asked.serverId, SERVER_ERROR, 'The client has gone'), asked.peer)
      }
    },
    clear(peer) {
      for (const asked of [...byId.values()]) {
        if (asked.peer !== peer) continue
        remove(asked)
        const params = JSON.stringify({ requestId: asked.id, reason: 'the server has gone' })
        send(asked.session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)
      }
    },
  }
}
