import { createHash } from 'node:crypto'

/** What a server has told sessions that began with the same words; kept while there is such a session. */
export interface ServerOffers {
  /** The result of `initialize`; raw text. */
  readonly initialized: string
  /** The items of its lists (raw texts), by method. */
  readonly lists: Map<string, readonly string[]>
}

/**
 * What the clients of an endpoint need not ask for again, because another one has asked. A client of the same person with
 * the same `initialize` sees the same server.
 */
export interface Catalog {
  /** What is known of a server for such sessions; undefined while there is none. */
  find(key: string): ServerOffers | undefined
  /** Notes a session that has begun. Returns what is known of its server, and what to call at its end. */
  enter(key: string, initialized: string): { offers: ServerOffers; leave: () => void }
}

export function createCatalog(): Catalog {
  const known = new Map<string, { readonly offers: ServerOffers; sessions: number }>()
  return {
    find: key => known.get(key)?.offers,
    enter(key, initialized) {
      const entry = known.get(key) ?? { offers: { initialized, lists: new Map() }, sessions: 0 }
      entry.sessions += 1
      known.set(key, entry)
      let hasLeft = false
      return {
        offers: entry.offers,
        leave() {
          if (hasLeft) return
          hasLeft = true
          entry.sessions -= 1
          if (entry.sessions === 0) known.delete(key)
        },
      }
    },
  }
}

/**
 * The key of sessions at a server that began with these parameters of `initialize` (raw text). Those who have logged in
 * share only with sessions of the same token: its claims may decide what they see.
 */
export const catalogKey = (
  server: string,
  { initialize, authorization = '' }: { initialize: string; authorization: string | undefined },
): string =>
  createHash('sha256')
    .update(JSON.stringify([server, authorization, initialize]))
    .digest('base64')
