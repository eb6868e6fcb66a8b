import { splice } from '../../../src/lib/raw-json.ts'
import { type Message, param, paramSpan, readMessage } from '../../../src/net/rpc-message.ts'

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId'

/** What a subscription names to get notifications of these methods (MCP 2026-07-28, `subscriptions/listen`). */
const FILTERS: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
}

/**
 * A notification of ours as a subscription carries it. Undefined where it is not one of those that `filter` names: the
 * request of the client, or what the server acknowledged of it. `idText` is the id of the request.
 */
export function toSubscriber(
  notification: string,
  { filter, idText }: { filter: Message; idText: string },
): string | undefined {
  const { params, ...message } = JSON.parse(notification)
  const name = Object.hasOwn(FILTERS, message.method) ? FILTERS[message.method] : undefined
  if (name === undefined || param(filter, 'notifications', name) !== true) return undefined
  const _meta = { ...params?._meta, [SUBSCRIPTION_ID]: 0 }
  const numbered = readMessage(JSON.stringify({ ...message, params: { ...params, _meta } })) as Message
  return splice(numbered.text, [{ span: paramSpan(numbered, '_meta', SUBSCRIPTION_ID), text: idText }])
}
