import { type Notification, param, paramSpan, type Response, readMessage } from '../message.ts'
import { arrayElements, findSpan, parseRaw, splice } from '../raw-json.ts'
import type { Session, Sessions } from './client-sessions.ts'
import type { Connection } from './connection.ts'
import type { LogLevels } from './log-levels.ts'
import type { NoiseLog } from './noise-log.ts'
import type { Owners } from './owners.ts'
import { type Calls, namedCall, progressFor } from './pending-calls.ts'
import type { ServerRequests } from './server-requests.ts'
import type { SessionDelivery } from './session-delivery.ts'
import type { Subscriptions } from './subscriptions.ts'

const SUBSCRIPTION_ID = ['_meta', 'io.modelcontextprotocol/subscriptionId']
const RELATED_TASK = ['_meta', 'io.modelcontextprotocol/related-task', 'taskId']

/**
 * Takes one line of the server's output.
 *
 * A line that is not exactly one JSON-RPC message is noise: logged and skipped. A message is not searched for
 * inside such a line, because servers that log what they receive would then seem to speak.
 */
export function createServerMessages(options: {
  calls: Calls
  sessions: Sessions
  serverRequests: ServerRequests
  subscriptions: Subscriptions
  levels: LogLevels
  owners: { readonly tasks: Owners<string>; readonly elicitations: Owners<string> }
  /** Progress tokens of tasks: they outlive the request they came with. */
  taskTokens: Map<number, { session: Session; token: string }>
  noise: NoiseLog
  delivery: SessionDelivery
}): (line: string, peer: Connection) => void {
  const { calls, sessions, serverRequests, subscriptions, levels, noise } = options
  const { tasks, elicitations } = options.owners
  const { send, sendStandalone } = options.delivery

  function response(message: Response): void {
    const call = calls.settle(message)
    if (!call) {
      noise.report('the server answered a request that nobody waits for', message.text)
      return
    }
    if (!call.task || !call.session) return
    const span = findSpan(message.text, message.result, ['task', 'taskId'])
    const id = span && parseRaw(message.text.slice(span.start, span.end))
    if (typeof id !== 'string') return
    tasks.remember(id, call.session)
    if (call.token !== undefined) {
      options.taskTokens.set(call.id, { session: call.session, token: call.token })
      for (const oldest of options.taskTokens.keys()) {
        if (options.taskTokens.size <= 10_000) break
        options.taskTokens.delete(oldest)
      }
    }
  }

  function progress(message: Notification): void {
    const id = namedCall(message, 'progressToken') ?? Number.NaN
    const call = calls.find(id)
    if (call?.token !== undefined) {
      calls.prolong(call)
      const text = progressFor({ token: call.token }, message)
      if (!call.reply.related(text) && call.session) send(call.session, text)
      return
    }
    const late = options.taskTokens.get(id)
    if (late && !late.session.closed) send(late.session, progressFor(late, message))
  }

  /** For the only one it can be about; with several candidates for nobody. */
  function attribute(message: Notification, admits = (_session: Session) => true): void {
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

  function notification(message: Notification, peer: Connection): void {
    const subscription = paramSpan(message, ...SUBSCRIPTION_ID)
    if (subscription) {
      const call = calls.find(namedCall(message, ...SUBSCRIPTION_ID) ?? Number.NaN)
      call?.reply.related(splice(message.text, [{ span: subscription, text: call.idText }]))
      return
    }
    switch (message.method) {
      case 'notifications/progress':
        progress(message)
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

  function take(text: string, peer: Connection): void {
    const message = readMessage(text)
    if (message?.kind === 'response') response(message)
    else if (message?.kind === 'request') serverRequests.ask(message, peer)
    else if (message) notification(message, peer)
    else noise.report('the server wrote a line that is no message', text)
  }

  return (line, peer) => {
    // Servers of 2025-03-26 may send several messages as one array.
    const batch = line.startsWith('[') ? arrayElements(line) : undefined
    for (const text of batch ?? [line]) take(text, peer)
  }
}
