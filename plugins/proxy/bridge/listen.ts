import { INVALID_PARAMS } from '../../../src/net/rpc-error-codes.ts'
import { errorText } from '../../../src/net/rpc-message.ts'
import { readListenFilter, supportedFilter } from '../eras/listen-filter.ts'
import type { ClientMessages } from './client-messages.ts'
import { createListener } from './listener.ts'
import type { Asked } from './modern-requests.ts'
import { tellServer } from './tell-server.ts'

/** Serves a `subscriptions/listen` (MCP 2026-07-28) by the subscriptions of older revisions. */
export async function listen(
  messages: ClientMessages,
  { request, reply, exchange, session, client, initialized }: Asked,
): Promise<void> {
  const { idText } = request
  const filter = readListenFilter(request)
  if (!filter) {
    reply.respond(errorText(idText, INVALID_PARAMS, 'notifications is not a notification filter'))
    return
  }
  const { resourceSubscriptions: uris = [], ...lists } = supportedFilter(filter, initialized)
  const listener = createListener({ idText, uris, reply, onEnd })
  client.listeners.add(listener)
  exchange.signal.addEventListener('abort', onEnd, { once: true })
  const isSubscribed = await Promise.all(
    uris.map(uri => tellServer(messages, session, 'resources/subscribe', { uri })),
  )
  const subscribed = uris.filter((_, n) => isSubscribed[n])
  const agreed = { ...lists, ...(subscribed.length ? { resourceSubscriptions: subscribed } : {}) }
  if (listener.acknowledge(agreed)) return
  onEnd()
  reply.respond(errorText(idText, INVALID_PARAMS, 'A subscription needs an event stream'))

  function onEnd(): void {
    if (!client.listeners.delete(listener)) return
    const others = new Set([...client.listeners].flatMap(other => other.uris))
    for (const uri of uris) {
      if (!others.has(uri)) void tellServer(messages, session, 'resources/unsubscribe', { uri })
    }
  }
}
