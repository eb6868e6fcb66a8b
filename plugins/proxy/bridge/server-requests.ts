import { METHOD_NOT_FOUND, SERVER_ERROR } from '../error-codes.ts'
import {
  errorText,
  idKey,
  type Message,
  type Notification,
  param,
  paramSpan,
  paramText,
  type Request,
  type Response,
  resultText,
  withId,
} from '../message.ts'
import { splice } from '../raw-json.ts'
import type { BridgeLimits } from './bridge-limits.ts'
import type { Session, Sessions } from './client-sessions.ts'
import type { Connection } from './connection.ts'
import type { Owners } from './owners.ts'
import type { Calls } from './pending-calls.ts'

/** What the server asks its clients: sampling, elicitation, roots, ping. */
export interface ServerRequests {
  /** Passes a request on to the client it is for; answers it here when there is none, and a ping always. */
  ask(request: Request, peer: Connection): void
  /** Passes a client's answer on. False when the server did not ask this client that. */
  answer(session: Session, response: Response): boolean
  /** The server takes a request back. */
  withdraw(notification: Notification, peer: Connection): void
  /** Whether this client was asked something under this progress token of the server. */
  hasToken(session: Session, tokenText: string): boolean
  /** The client has gone: the server gets errors. */
  drop(session: Session): void
  /** The server has gone: the clients need not think on. */
  clear(peer: Connection): void
}

interface Asked {
  readonly id: number
  readonly serverId: string
  readonly session: Session
  /** The server process that asks. */
  readonly peer: Connection
  readonly tokenText: string | undefined
}

const RELATED_TASK = ['_meta', 'io.modelcontextprotocol/related-task', 'taskId']

/** Whether a client said that it takes this request. */
function canTake(session: Session, request: Request): boolean {
  const { sampling, elicitation, roots } = session.capabilities
  switch (request.method) {
    case 'sampling/createMessage':
      return paramSpan(request, 'tools') ? sampling?.tools !== undefined : sampling !== undefined
    case 'elicitation/create':
      if (param(request, 'mode') === 'url') return elicitation?.url !== undefined
      // Before 2025-11-25 an empty object meant forms.
      return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
    case 'roots/list':
      return roots !== undefined
    default:
      return true
  }
}

/**
 * Chooses whom to ask. stdio does not say which request a question belongs to, so:
 * the owner of the task it names; else the only client at work, if it can; with nobody at work, the only client
 * that can. With several at work nobody is asked: one client's data must not reach another.
 * (`roots/list` holds no client's data: the only client that has roots is asked in any case.)
 */
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
  const byId = new Map<number, Asked>()
  /** By process, and the id that it gave. */
  const byServerId = new WeakMap<Connection, Map<string, Asked>>()
  let lastId = 0

  function choose(request: Request): Session | undefined {
    const task = param(request, ...RELATED_TASK)
    const owner = typeof task === 'string' ? tasks.find(task) : undefined
    if (owner) return canTake(owner, request) ? owner : undefined
    const atWork = calls.atWork()
    if (typeof atWork === 'object') {
      if ('session' in atWork && canTake(atWork.session, request)) return atWork.session
      if (request.method !== 'roots/list') return undefined
    }
    if (atWork === 'several' && request.method !== 'roots/list') return undefined
    let only: Session | undefined
    for (const session of sessions.all()) {
      if (!canTake(session, request)) continue
      if (only) return undefined
      only = session
    }
    return only
  }

  function forget(asked: Asked): void {
    byId.delete(asked.id)
    asked.session.asked.delete(asked.id)
    const key = idKey(asked.serverId)
    const ids = byServerId.get(asked.peer)
    if (ids?.get(key) === asked) ids.delete(key)
  }

  return {
    ask(request, peer) {
      if (request.method === 'ping') return void write(resultText(request.idText), peer)
      const session = choose(request)
      if (!session) {
        return void write(
          errorText(request.idText, METHOD_NOT_FOUND, `No client can be asked for ${request.method}`),
          peer,
        )
      }
      if (session.asked.size >= limits.maxServerRequests) {
        return void write(
          errorText(request.idText, SERVER_ERROR, 'The client has too many requests to answer'),
          peer,
        )
      }
      lastId += 1
      const asked: Asked = {
        id: lastId,
        serverId: request.idText,
        session,
        peer,
        tokenText: paramText(request, '_meta', 'progressToken'),
      }
      byId.set(asked.id, asked)
      const ids = byServerId.get(peer) ?? new Map<string, Asked>()
      byServerId.set(peer, ids.set(idKey(asked.serverId), asked))
      session.asked.add(asked.id)
      const elicitation = param(request, 'elicitationId')
      if (typeof elicitation === 'string') elicitations.remember(elicitation, session)
      send(session, withId(request, String(asked.id)))
    },
    answer(session, response) {
      const asked = byId.get(Number(response.idText))
      if (asked?.session !== session) return false
      forget(asked)
      write(withId(response, asked.serverId).replaceAll(/[\r\n]+/g, ' '), asked.peer)
      return true
    },
    withdraw(notification, peer) {
      const idText = paramText(notification, 'requestId')
      const ids = byServerId.get(peer)
      const asked = idText !== undefined && /^["\d-]/.test(idText) ? ids?.get(idKey(idText)) : undefined
      if (!asked) return
      forget(asked)
      send(asked.session, withRequestId(notification, asked.id))
    },
    hasToken: (session, tokenText) => [...session.asked].some(id => byId.get(id)?.tokenText === tokenText),
    drop(session) {
      for (const id of [...session.asked]) {
        const asked = byId.get(id)
        if (!asked) continue
        forget(asked)
        write(errorText(asked.serverId, SERVER_ERROR, 'The client has gone'), asked.peer)
      }
    },
    clear(peer) {
      for (const asked of [...byId.values()]) {
        if (asked.peer !== peer) continue
        forget(asked)
        const params = JSON.stringify({ requestId: asked.id, reason: 'the server has gone' })
        send(asked.session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)
      }
    },
  }
}

/** A cancel notification with the id that its receiver knows. */
export const withRequestId = (message: Message, id: number): string =>
  splice(message.text, [{ span: paramSpan(message, 'requestId'), text: String(id) }])
