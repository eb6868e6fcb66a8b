import { mergeRaw } from '../../../src/lib/raw-json.ts'
import {
  type Message,
  type Notification,
  param,
  paramsObject,
  paramText,
} from '../../../src/net/rpc-message.ts'
import { OF_PROTOCOL, withoutProtocolMeta } from './modern-meta.ts'

/** Names the call in which a server sent a message, between what knows that and what passes it on. */
const HINT = `${OF_PROTOCOL}keelson-call`

/** A message of a server with the id of the call that it belongs to. It is taken out before a client gets it. */
export function withCallHint(message: Message, callId: string): string {
  const meta = paramText(message, '_meta') ?? '{}'
  const hinted = mergeRaw(paramsObject(message), `{"_meta":${mergeRaw(meta, `{"${HINT}":${callId}}`)}}`)
  return mergeRaw(message.text, `{"params":${hinted}}`)
}

/** The id of the call that a message belongs to; undefined where nobody knows. */
export const callHint = (message: Message): unknown => param(message, '_meta', HINT)

/** A notification for a client. */
export function withoutCallHint(notification: Notification): string {
  if (callHint(notification) === undefined) return notification.text
  const params = withoutProtocolMeta(notification)
  return mergeRaw(notification.text, `{"params":${params}}`)
}
