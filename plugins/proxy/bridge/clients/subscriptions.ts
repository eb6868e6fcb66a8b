import type { BridgeLimits } from '../bridge-limits.ts'
import type { Session } from './client-sessions.ts'

/**
 * Which sessions watch which resource. The server has one session, so it gets only the first
 * `resources/subscribe` of a URI and the last `resources/unsubscribe`. The bridge responds to the others.
 */
export interface Subscriptions {
  /** Adds a subscription. True: the server must be asked, and `confirm` or `remove` follows. */
  add(session: Session, uri: string): boolean
  confirm(session: Session, uri: string): void
  /** Removes a subscription. True: it was the last of this URI, so the server must be told. */
  remove(session: Session, uri: string): boolean
  /** Removes all subscriptions of a session. Returns the URIs that have none left. */
  removeAll(session: Session): string[]
  /** Sessions that watch this resource, or one that it is part of (MCP, resources: sub-resources). */
  watchers(uri: string): Set<Session>
  /** Whether the session may watch this resource too. */
  hasRoom(session: Session, uri: string): boolean
  /** All URIs that are watched, for a new server process. */
  uris(): string[]
}

/**
 * A subscription counts as soon as it is sent, before it is confirmed. Otherwise a later unsubscribe of another
 * session would end it at the server.
 */
export function createSubscriptions({
  maxSubscriptions,
  maxSubscriptionBytes,
}: Pick<BridgeLimits, 'maxSubscriptions' | 'maxSubscriptionBytes'>): Subscriptions {
  const byUri = new Map<string, Map<Session, { confirmed: boolean }>>()
  const bySession = new Map<Session, { uris: Set<string>; bytes: number }>()

  function remove(session: Session, uri: string): boolean {
    const watchers = byUri.get(uri)
    if (!watchers?.delete(session)) return false
    const own = bySession.get(session)
    if (own?.uris.delete(uri)) own.bytes -= uri.length
    if (own?.uris.size === 0) bySession.delete(session)
    if (watchers.size > 0) return false
    byUri.delete(uri)
    return true
  }

  return {
    add(session, uri) {
      const watchers = byUri.get(uri) ?? new Map<Session, { confirmed: boolean }>()
      byUri.set(uri, watchers)
      const settled = [...watchers.values()].some(watcher => watcher.confirmed)
      const own = watchers.get(session)
      watchers.set(session, { confirmed: own?.confirmed || settled })
      const { uris, bytes } = bySession.get(session) ?? { uris: new Set(), bytes: 0 }
      bySession.set(session, { bytes: bytes + (uris.has(uri) ? 0 : uri.length), uris: uris.add(uri) })
      return !settled
    },
    confirm(session, uri) {
      const watcher = byUri.get(uri)?.get(session)
      if (watcher) watcher.confirmed = true
    },
    remove,
    removeAll: session => [...(bySession.get(session)?.uris ?? [])].filter(uri => remove(session, uri)),
    watchers(uri) {
      const found = new Set(byUri.get(uri)?.keys())
      // `file:///a` covers `file:///a/b`: look at every prefix that ends before a slash.
      for (let at = uri.lastIndexOf('/'); at > 0; at = uri.lastIndexOf('/', at - 1)) {
        for (const base of [uri.slice(0, at), uri.slice(0, at + 1)]) {
          if (base !== uri) for (const session of byUri.get(base)?.keys() ?? []) found.add(session)
        }
      }
      return found
    },
    hasRoom(session, uri) {
      const { uris, bytes } = bySession.get(session) ?? { uris: new Set(), bytes: 0 }
      return uris.has(uri) || (uris.size < maxSubscriptions && bytes + uri.length <= maxSubscriptionBytes)
    },
    uris: () => [...byUri.keys()],
  }
}
