import { splice } from '../../../../src/lib/raw-json.ts'
import { type Notification, param, paramSpan } from '../../../../src/net/rpc-message.ts'
import { callHint, withoutCallHint } from '../../eras/call-hint.ts'
import { type Calls, namedCall, progressFor } from '../calls/pending-calls.ts'
import type { Connection } from '../server/connection.ts'
import type { Session, Sessions } from './client-sessions.ts'
import type { LogLevels } from './log-levels.ts'
import type { Owners } from './owners.ts'
import type { ServerRequests } from './server-requests.ts'
import type { SessionDelivery } from './session-delivery.ts'
import type { Subscriptions } from './subscriptions.ts'
import type { TaskTokens } from './task-tokens.ts'

const SUBSCRIPTION_ID = ['_meta', 'io.modelcontextprotocol/subscriptionId']
const RELATED_TASK = ['_meta', 'io.modelcontextprotocol/related-task', 'taskId']

/** Passes a notification of the server to the sessions that it is for. */
export function createServerNotifications(options: {
  calls: Calls
  sessions: Sessions
  serverRequests: ServerRequests
  subscriptions: Subscriptions
  levels: LogLevels
  owners: { readonly tasks: Owners<string>; readonly elicitations: Owners<string> }
  taskTokens: TaskTokens
  delivery: SessionDelivery
  /** Whether messages say which call they belong to (`withCallHint`). */
  hasHints: boolean
}): (message: Notification, peer: Connection) => void {
  const { calls, sessions, serverRequests, subscriptions, levels, taskTokens } = options
  const { tasks, elicitations } = options.owners
  const { send, sendStandalone } = options.delivery

  function progress(message: Notification, peer: Connection): void {
    const id = namedCall(message, 'progressToken') ?? Number.NaN
    const call = calls.find(id)
    if (call?.peer === peer && call.token !== undefined) {
      calls.prolong(call)
      const text = progressFor({ token: call.token }, message)
      if (!call.reply.related(text) && call.session) send(call.session, text)
      return
    }
    const task = taskTokens.find(id)
    if (task) send(task.session, progressFor(task, message))
  }

  /** Sends the message to the only client it can be about; with several candidates it is dropped. */
  function attribute(message: Notification, admits = (_session: Session) => true): void {
    const hinted = options.hasHints ? calls.find(Number(callHint(message))) : undefined
    if (hinted?.session && admits(hinted.session)) {
      const text = withoutCallHint(message)
      if (!hinted.reply.related(text)) send(hinted.session, text)
      return
    }
    const task = param(message, ...RELATED_TASK)
    const owner = typeof task === 'string' ? tasks.find(task) : undefined
    if (owner) {
      send(owner, message.text)
      return
    }
    const atWork = calls.atWork()
    if (typeof atWork === 'object') {
      if ('call' in atWork) atWork.call.reply.related(message.text)
      else if (admits(atWork.session)) send(atWork.session, message.text)
    } else if (atWork === 'none' && sessions.size === 1) {
      for (const session of sessions.all()) if (admits(session)) send(session, message.text)
    }
  }

  function toOwner(owners: Owners<string>, key: unknown, message: Notification): void {
    const owner = typeof key === 'string' ? owners.find(key) : undefined
    if (owner) send(owner, message.text)
    else attribute(message)
  }

  function byMethod(message: Notification, peer: Connection): void {
    switch (message.method) {
      case 'notifications/progress':
        progress(message, peer)
        break
      case 'notifications/cancelled':
        serverRequests.withdraw(message, peer)
        break
      case 'notifications/tools/list_changed':
      case 'notifications/prompts/list_changed':
      case 'notifications/resources/list_changed':
        for (const session of sessions.all()) sendStandalone(session, message.text)
        break
      case 'notifications/resources/updated': {
        const uri = param(message, 'uri')
        const watchers = typeof uri === 'string' ? subscriptions.watchers(uri) : []
        for (const session of watchers) sendStandalone(session, message.text)
        break
      }
      case 'notifications/message': {
        const level = param(message, 'level')
        attribute(message, session => levels.admits(session, level))
        break
      }
      case 'notifications/elicitation/complete':
        toOwner(elicitations, param(message, 'elicitationId'), message)
        break
      case 'notifications/tasks/status':
        toOwner(tasks, param(message, 'taskId'), message)
        break
      default:
        attribute(message)
    }
  }

  return (message, peer) => {
    const subscription = paramSpan(message, ...SUBSCRIPTION_ID)
    if (!subscription) return byMethod(message, peer)
    const call = calls.find(namedCall(message, ...SUBSCRIPTION_ID) ?? Number.NaN)
    if (call?.peer !== peer) return
    if (message.method === 'notifications/subscriptions/acknowledged') call.acknowledged = message
    call.reply.related(splice(message.text, [{ span: subscription, text: call.idText }]))
  }
}
