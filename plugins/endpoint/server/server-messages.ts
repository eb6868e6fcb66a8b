import { SERVER_ERROR } from '../../../src/net/rpc-error-codes.ts'
import {
  errorText,
  type Message,
  type Notification,
  paramText,
  type Request,
  type Response,
  resultText,
} from '../../../src/net/rpc-message.ts'
import { editMember } from '../names/edit-raw.ts'
import { CHANGED_LISTS } from '../names/list-kinds.ts'
import { uri } from '../names/public-results.ts'
import type { Calls } from './calls.ts'
import type { MemberSession } from './member-session.ts'
import type { PublicLists } from './public-lists.ts'
import type { ServerRequests } from './server-requests.ts'

/** Makes what passes the messages that servers send by themselves to the client. */
export function createServerMessages(options: {
  requests: ServerRequests
  lists: Pick<PublicLists, 'changed'>
  calls: Pick<Calls, 'noteProgress'>
  session: (server: string) => MemberSession | undefined
  /** Sends a message to the client. */
  send: (text: string) => void
}): (server: string, message: Exclude<Message, Response>) => void {
  const { requests, lists, calls, session, send } = options

  function passRequest(server: string, request: Request): void {
    const { idText, method } = request
    const passed = method === 'ping' ? undefined : requests.pass(server, request)
    if (passed !== undefined) {
      calls.noteProgress(server) // a person may have to respond first
      send(passed)
    } else if (method === 'ping') session(server)?.tell(resultText(idText))
    else session(server)?.tell(errorText(idText, SERVER_ERROR, 'Too many requests wait'))
  }

  function passNotification(server: string, notification: Notification): void {
    const changed = CHANGED_LISTS[notification.method]
    if (changed) {
      for (const list of changed) session(server)?.forget(list)
      lists.changed(changed)
      return
    }
    if (notification.method === 'notifications/progress') {
      calls.noteProgress(server, paramText(notification, 'progressToken'))
    }
    const passed = toClient(server, notification)
    if (passed !== undefined) send(passed)
  }

  function toClient(server: string, notification: Notification): string | undefined {
    const { method, text } = notification
    if (method === 'notifications/cancelled') return requests.cancel(server, notification)
    return method === 'notifications/resources/updated'
      ? editMember(text, ['params', 'uri'], uri(server))
      : text
  }

  return (server, message) =>
    message.kind === 'request' ? passRequest(server, message) : passNotification(server, message)
}
