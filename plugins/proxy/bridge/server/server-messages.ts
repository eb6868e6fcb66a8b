import { arrayElements, parseRaw } from '../../../../src/lib/raw-json.ts'
import { type Message, type Response, readMessage } from '../../../../src/net/rpc-message.ts'
import type { Calls } from '../calls/pending-calls.ts'
import type { Owners } from '../clients/owners.ts'
import { createServerNotifications } from '../clients/server-notifications.ts'
import type { ServerRequests } from '../clients/server-requests.ts'
import type { TaskTokens } from '../clients/task-tokens.ts'
import type { LimitedLog } from '../limited-log.ts'
import type { Connection } from './connection.ts'

/** The most messages in one array. */
const MOST_BATCHED = 10_000

/**
 * Takes one line of the server's output.
 *
 * A line that is not exactly one JSON-RPC message is logged and skipped. Messages inside such a line are not
 * searched for: a server that logs what it receives would otherwise seem to send it.
 */
export function createServerMessages(
  options: Parameters<typeof createServerNotifications>[0] & {
    calls: Calls
    serverRequests: ServerRequests
    owners: { readonly tasks: Owners<string> }
    taskTokens: TaskTokens
    limitedLog: LimitedLog
  },
): (text: string, peer: Connection, message: Message | undefined) => void {
  const { calls, serverRequests, taskTokens, limitedLog } = options
  const notify = createServerNotifications(options)

  function settle(message: Response, peer: Connection): void {
    const call = calls.settle(message, peer)
    if (!call) {
      limitedLog.warn('the server responded to a request that no client waits for', message.text)
      return
    }
    if (!call.task || !call.session) return
    const span = message.index.find(message.result, ['task', 'taskId'])
    const id = span && parseRaw(message.text.slice(span.start, span.end))
    if (typeof id !== 'string') return
    options.owners.tasks.remember(id, call.session)
    if (call.token !== undefined) taskTokens.remember(call.id, { session: call.session, token: call.token })
  }

  function take(text: string, peer: Connection, message = readMessage(text)): void {
    if (message?.kind === 'response') {
      peer.noteResponse()
      settle(message, peer)
    } else if (message?.kind === 'request') serverRequests.ask(message, peer)
    else if (message) notify(message, peer)
    else limitedLog.warn('the server wrote a line that is not a message', text)
  }

  return (text, peer, message) => {
    // Servers of 2025-03-26 may send several messages as one array.
    const batch = text.startsWith('[') ? arrayElements(text, MOST_BATCHED) : undefined
    if (batch) for (const one of batch) take(one, peer)
    else take(text, peer, message)
  }
}
