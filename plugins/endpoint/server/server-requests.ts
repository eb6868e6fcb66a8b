import { splice } from '../../../src/lib/raw-json.ts'
import {
  idKey,
  type Message,
  paramSpan,
  type Request,
  type Response,
  withId,
} from '../../../src/net/rpc-message.ts'

/** Requests that servers send to the client. Their ids are given anew, as two servers may use the same. */
export interface ServerRequests {
  /** The request as the client gets it; undefined when too many of that server wait already. */
  pass(server: string, request: Request): string | undefined
  /** The response as its server gets it, and which one that is; undefined when no server waits for it. */
  respond(response: Response): { server: string; text: string } | undefined
  /** The cancellation of a request as the client gets it; undefined when it is not in flight. */
  cancel(server: string, notification: Message): string | undefined
  /** Forgets the requests of a server that is gone. Returns cancellations for the client. */
  drop(server: string): string[]
}

/** How many requests of one server may wait for the client. */
const MOST = 1000

export function createServerRequests(): ServerRequests {
  const open = new Map<string, { server: string; idText: string }>()
  let count = 0
  return {
    pass(server, request) {
      const waiting = [...open.values()].filter(one => one.server === server).length
      if (waiting >= MOST) return undefined
      count += 1
      open.set(String(count), { server, idText: request.idText })
      return withId(request, String(count))
    },
    respond(response) {
      const id = response.idText ?? ''
      const asked = open.get(id)
      open.delete(id)
      return asked && { server: asked.server, text: withId(response, asked.idText) }
    },
    cancel(server, notification) {
      const span = paramSpan(notification, 'requestId')
      if (!span) return undefined
      const wanted = idKey(notification.text.slice(span.start, span.end))
      const found = [...open].find(([, one]) => one.server === server && idKey(one.idText) === wanted)
      if (!found) return undefined
      open.delete(found[0])
      return splice(notification.text, [{ span, text: found[0] }])
    },
    drop(server) {
      const gone = [...open].filter(([, one]) => one.server === server).map(([id]) => id)
      for (const id of gone) open.delete(id)
      return gone.map(
        id =>
          `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"its server is gone"}}`,
      )
    },
  }
}
