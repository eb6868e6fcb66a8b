import type { Exchange } from '../../../src/contracts/pipeline.ts'
import type { HttpEras } from '../http-eras.ts'
import { endpointUrl, seeksEndpoint } from '../http-sse.ts'
import { servesSessions, servesStateless } from '../translated-http/http-server-era.ts'
import type { SendForCaller } from '../translated-http/send-for-caller.ts'

/** The era of a server as an older client sees it. A server of both eras counts as legacy. */
export type Era = 'legacy' | 'stateless'

/**
 * Finds out the era of a server that has refused `initialize`, or the GET of an older client. Undefined if the server does
 * not show it (it requires other credentials, or cannot be reached), or if knowing it does not help the client.
 */
export async function findEra(
  exchange: Exchange,
  { eras, send }: { eras: HttpEras; send: SendForCaller },
): Promise<Era | undefined> {
  const known = eras.of({ url: endpointUrl(exchange.url) })
  const stateless = await servesStateless(send, exchange)
  if (stateless.serves !== undefined && stateless.isSure) known.note('stateless', stateless.serves)
  const seeksSse = seeksEndpoint(exchange)
  if (!stateless.serves && !seeksSse) return undefined
  // A server of both eras may find fault with the `initialize` of this client only.
  const sessions = await servesSessions(send, exchange)
  if (sessions.serves !== undefined && sessions.isSure) known.note('legacy', sessions.serves)
  if (sessions.serves) return seeksSse && sessions.isSure ? 'legacy' : undefined
  return stateless.serves && sessions.serves === false ? 'stateless' : undefined
}
