import { INVALID_REQUEST, SERVER_ERROR } from '../../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  idKey,
  type Notification,
  onOneLine,
  param,
  paramText,
  type Request,
  type Response,
  readMessage,
  resultText,
  withRequestId,
} from '../../../../src/net/rpc-message.ts'
import type { SessionOwner } from '../../session-owner.ts'
import { isForeignTask, mayNameTask, noSuchTask, withOwnTasks } from '../../tasks/task-messages.ts'
import type { TaskOwners } from '../../tasks/task-owners.ts'
import type { Call, Reply } from '../calls/call.ts'
import type { Calls } from '../calls/pending-calls.ts'
import type { Handshake } from '../server/handshake.ts'
import type { Session } from './client-sessions.ts'
import type { LogLevels } from './log-levels.ts'
import type { ServerRequests } from './server-requests.ts'
import type { Subscriptions } from './subscriptions.ts'

/** Takes the messages of clients, except `initialize`. */
export interface ClientMessages {
  /** Returns the call; `responded` when the bridge responded itself; `busy` when too much waits. */
  request(
    request: Request,
    options: {
      session: Session | undefined
      owner: SessionOwner
      /** As of `Calls.start`. */
      holder?: string | undefined
      reply: Reply
    },
  ): Call | 'responded' | 'busy'
  /** False when too much waits: nothing was sent. */
  notify(notification: Notification, session: Session | undefined): boolean
  /** Takes a response to a request of the server. One without such a request is ignored. */
  respond(response: Response, session: Session | undefined): void
}

/** Where a request comes from. */
interface From {
  readonly session: Session | undefined
  readonly holder: string | undefined
}

/** Owns the tasks of clients with neither a login nor a session, which cannot be told apart. */
const NOBODY = 'nobody'

export function createClientMessages(options: {
  calls: Calls
  handshake: Handshake
  /** Called when a later client has come. */
  rootsChanged: (session: Session) => void
  subscriptions: Subscriptions
  levels: LogLevels
  serverRequests: ServerRequests
  taskOwners: TaskOwners
  write: (text: string) => boolean
  onIgnored: (what: string) => void
}): ClientMessages {
  const { calls, handshake, subscriptions, levels, serverRequests, taskOwners } = options
  const { rootsChanged, write, onIgnored } = options

  type Outcome = ReturnType<ClientMessages['request']>

  const forward = (request: Request, { session, holder }: From, reply: Reply): Outcome =>
    calls.start(request, {
      ...{ session, holder, reply },
      // The response comes when the client ends the subscription (MCP 2026-07-28).
      ...(request.method === 'subscriptions/listen' ? { timeoutMs: Number.POSITIVE_INFINITY } : {}),
    }) ?? 'busy'

  function answer(reply: Reply, text: string): Outcome {
    reply.respond(text)
    return 'responded'
  }

  function subscribe(
    request: Request,
    from: From & { session: Session },
    uri: string,
    reply: Reply,
  ): Outcome {
    const { session } = from
    if (!subscriptions.hasRoom(session, uri)) {
      return answer(reply, errorText(request.idText, SERVER_ERROR, 'This session has too many subscriptions'))
    }
    if (!subscriptions.add(session, uri)) return answer(reply, resultText(request.idText))
    const observed = observe(reply, ok => {
      if (ok) subscriptions.confirm(session, uri)
      else subscriptions.remove(session, uri)
    })
    const outcome = forward(request, from, observed)
    if (outcome === 'busy') subscriptions.remove(session, uri)
    return outcome
  }

  return {
    request(request, { session, owner: caller, holder, reply: given }) {
      const owner = caller ?? (handshake.agreed?.hasTasks ? (session?.id ?? NOBODY) : undefined)
      if (owner !== undefined && isForeignTask(request, owner, taskOwners)) {
        return answer(given, noSuchTask(request.idText))
      }
      const reply = owner === undefined ? given : ofOwnTasks(given, { owner, taskOwners })
      const uri = /^resources\/(un)?subscribe$/.test(request.method) ? param(request, 'uri') : undefined
      if (typeof uri === 'string') {
        if (!session) {
          // There is no stream for its updates, and its end would end the subscription of other clients.
          return answer(reply, errorText(request.idText, INVALID_REQUEST, 'A subscription needs a session'))
        }
        if (request.method === 'resources/subscribe')
          return subscribe(request, { session, holder }, uri, reply)
        if (subscriptions.remove(session, uri)) return forward(request, { session, holder }, reply)
        return answer(reply, resultText(request.idText))
      }
      const level = request.method === 'logging/setLevel' ? param(request, 'level') : undefined
      if (session && typeof level === 'string' && !levels.set(session, level)) {
        return answer(reply, resultText(request.idText))
      }
      return forward(request, { session, holder }, reply)
    },
    notify(notification, session) {
      switch (notification.method) {
        case 'notifications/initialized':
          if (handshake.initialized()) return write(onOneLine(notification.text))
          if (session) rootsChanged(session)
          return true
        case 'notifications/cancelled':
          return cancel(notification, session, { calls, onIgnored })
        case 'notifications/progress': {
          const token = paramText(notification, 'progressToken')
          if (session && token !== undefined && serverRequests.hasToken(session, token)) {
            return write(onOneLine(notification.text))
          }
          onIgnored('a client reported progress on nothing it was asked')
          return true
        }
        default:
          return write(onOneLine(notification.text))
      }
    },
    respond(response, session) {
      if (!session || !serverRequests.respond(session, response)) {
        onIgnored('a client responded to a request that it did not get')
      }
    },
  }
}

/** Passes on that a client has cancelled its request. False when too much waits: nothing was sent. */
function cancel(
  notification: Notification,
  session: Session | undefined,
  { calls, onIgnored }: { calls: Calls; onIgnored: (what: string) => void },
): boolean {
  const idText = paramText(notification, 'requestId')
  const named = idText !== undefined && /^["\d-]/.test(idText) ? session?.calls.get(idKey(idText)) : undefined
  if (!named) onIgnored('a client cancelled a request that is not on its way')
  for (const call of [...(named ?? [])]) {
    if (call.method === 'initialize') continue
    if (!call.peer.write(onOneLine(withRequestId(notification, call.id)))) return false
    calls.drop(call, 'cancelled')
  }
  return true
}

/** A reply that names only the tasks of its owner. */
const ofOwnTasks = (
  reply: Reply,
  { owner, taskOwners }: { owner: string; taskOwners: TaskOwners },
): Reply => ({
  attended: () => reply.attended(),
  related: text => reply.related(text),
  keepAlive: () => reply.keepAlive(),
  respond: text => reply.respond(mayNameTask(text) ? (withOwnTasks(text, owner, taskOwners) ?? text) : text),
  fail: failure => reply.fail(failure),
})

/** A reply that also reports whether the response is a result. */
function observe(reply: Reply, onSettled: (ok: boolean) => void): Reply {
  return {
    attended: () => reply.attended(),
    related: text => reply.related(text),
    keepAlive: () => reply.keepAlive(),
    respond(text) {
      const message = readMessage(text)
      onSettled(message?.kind === 'response' && message.result !== undefined)
      reply.respond(text)
    },
    fail(failure) {
      onSettled(false)
      reply.fail(failure)
    },
  }
}
