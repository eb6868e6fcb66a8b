import { detached } from '../../../../src/lib/raw-json.ts'
import { idKey, paramText, type Request } from '../../../../src/net/rpc-message.ts'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { Connection } from '../server/connection.ts'
import type { Session } from './client-sessions.ts'

/** A request of the server that waits for the response of a client. */
export interface UnansweredRequest {
  /** The id that the client knows. */
  readonly id: number
  /** The id that the server chose. */
  readonly serverId: string
  readonly session: Session
  /** The server process that sent the request. */
  readonly peer: Connection
  /** The server's progress token, as it was written. */
  readonly tokenText: string | undefined
  /** How long the request is. */
  readonly bytes: number
}

/** The requests of the server that wait for clients, by the ids of both sides. */
export interface UnansweredRequests {
  /** Undefined when too many of them wait for the client, or too many bytes. */
  add(request: Request, session: Session, peer: Connection): UnansweredRequest | undefined
  remove(request: UnansweredRequest): void
  find(id: number): UnansweredRequest | undefined
  /** The request of a server process with this id, as it was written. */
  ofServer(peer: Connection, idText: string): UnansweredRequest | undefined
  all(): UnansweredRequest[]
}

export function createUnansweredRequests(
  limits: Pick<BridgeLimits, 'maxServerRequests' | 'maxEventBytes' | 'maxTotalEventBytes'>,
): UnansweredRequests {
  const byId = new Map<number, UnansweredRequest>()
  /** By server process, and by the id that it chose. */
  const byServerId = new WeakMap<Connection, Map<string, UnansweredRequest>>()
  let lastId = 0
  let bytes = 0

  /** The only request of a client may be of any length. */
  function hasRoom({ asked }: Session, length: number): boolean {
    let own = length
    for (const id of asked) own += byId.get(id)?.bytes ?? 0
    const fits = asked.size < limits.maxServerRequests && own <= limits.maxEventBytes
    return (asked.size === 0 || fits) && bytes + length <= limits.maxTotalEventBytes
  }

  return {
    add(request, session, peer) {
      if (!hasRoom(session, request.text.length)) return undefined
      lastId += 1
      const added: UnansweredRequest = {
        id: lastId,
        serverId: detached(request.idText),
        session,
        peer,
        tokenText: detached(paramText(request, '_meta', 'progressToken')),
        bytes: request.text.length,
      }
      bytes += added.bytes
      byId.set(added.id, added)
      const ids = byServerId.get(peer) ?? new Map<string, UnansweredRequest>()
      byServerId.set(peer, ids.set(idKey(added.serverId), added))
      session.asked.add(added.id)
      return added
    },
    remove(request) {
      if (byId.delete(request.id)) bytes -= request.bytes
      request.session.asked.delete(request.id)
      const key = idKey(request.serverId)
      const ids = byServerId.get(request.peer)
      if (ids?.get(key) === request) ids.delete(key)
    },
    find: id => byId.get(id),
    ofServer: (peer, idText) => byServerId.get(peer)?.get(idKey(idText)),
    all: () => [...byId.values()],
  }
}
