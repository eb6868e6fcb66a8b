import { INVALID_PARAMS } from '../../../../src/net/rpc-error-codes.ts'
import { errorText } from '../../../../src/net/rpc-message.ts'
import { MOST_RESOURCES, readListenFilter, supportedFilter } from '../../eras/listen-filter.ts'
import type { ClientMessages } from '../clients/client-messages.ts'
import { tellServer } from '../server/tell-server.ts'
import { createListener } from './listener.ts'
import type { Asked } from './modern-requests.ts'

/** Serves a `subscriptions/listen` (MCP 2026-07-28) by the subscriptions of older revisions. */
export async function listen(
  messages: ClientMessages,
  { request, reply, exchange, session, client, initialized }: Asked,
): Promise<void> {
  const { idText } = request
  const filter = readListenFilter(request)
  if (!filter) {
    const problem = `notifications is not a notification filter, or names more than ${MOST_RESOURCES} resources`
    reply.respond(errorText(idText, INVALID_PARAMS, problem))
    return
  }
  const { resourceSubscriptions: uris = [], ...lists } = supportedFilter(filter, initialized)
  const listener = createListener({ idText, reply, onEnd })
  client.listeners.add(listener)
  for (const uri of uris) client.watched.set(uri, (client.watched.get(uri) ?? 0) + 1)
  exchange.signal.addEventListener('abort', onEnd, { once: true })
  const isSubscribed = await Promise.all(
    uris.map(uri => tellServer(messages, session, 'resources/subscribe', { uri })),
  )
  // It was ended while the server was asked.
  if (!client.listeners.has(listener)) return
  const subscribed = uris.filter((_, n) => isSubscribed[n])
  const agreed = { ...lists, ...(subscribed.length ? { resourceSubscriptions: subscribed } : {}) }
  if (listener.acknowledge(agreed)) return
  onEnd()
  reply.respond(errorText(idText, INVALID_PARAMS, 'A subscription needs an event stream'))

  function onEnd(): void {
    if (!client.listeners.delete(listener)) return
    for (const uri of uris) {
      const others = (client.watched.get(uri) ?? 1) - 1
      if (others > 0) client.watched.set(uri, others)
      else {
        client.watched.delete(uri)
        void tellServer(messages, session, 'resources/unsubscribe', { uri })
      }
    }
  }
}
