import { CHANGED_LISTS } from '../names/list-kinds.ts'
import type { Naming } from '../names/naming.ts'
import type { MemberSession } from './member-session.ts'
import { type KnownMerges, type MergedList, mergeLists, type Offer } from './merged-lists.ts'

/** The lists that one client sees, each of the offers of all servers. */
export interface PublicLists {
  /** The list. Where a server was missing from it, that one is asked again: it may respond by now. */
  of(method: string): Promise<MergedList>
  /** What has a name in a list. A name that is known needs no newer list, so that no server that hangs delays it. */
  find(method: string, name: string): Promise<Offer | undefined>
  /** Forgets lists, and tells the client that they have changed. */
  changed(methods: readonly string[]): void
}

export function createPublicLists(options: {
  naming: Naming
  marksServers: boolean
  known: KnownMerges
  listed: () => readonly MemberSession[]
  /** Sends a notification to the client. */
  tell: (text: string) => void
}): PublicLists {
  const { naming, marksServers, known: merges, listed, tell } = options
  const merged = new Map<string, Promise<MergedList>>()
  const named = new Map<string, MergedList['offers']>()

  function list(method: string): Promise<MergedList> {
    const known = merged.get(method)
    if (known) return known
    const found = mergeLists(method, {
      sessions: listed(),
      naming,
      marksServers,
      known: merges,
      onLate: () => changed([method]),
    })
    merged.set(method, found)
    found.then(
      ({ offers }) => named.set(method, offers),
      () => merged.delete(method),
    )
    return found
  }

  async function of(method: string): Promise<MergedList> {
    const known = merged.get(method)
    if (known && (await known).missing.size > 0 && merged.get(method) === known) merged.delete(method)
    return list(method)
  }

  function changed(methods: readonly string[]): void {
    for (const method of methods) merged.delete(method)
    for (const [notification, lists] of Object.entries(CHANGED_LISTS)) {
      if (lists.some(one => methods.includes(one))) tell(`{"jsonrpc":"2.0","method":"${notification}"}`)
    }
  }

  return {
    of,
    find: async (method, name) => named.get(method)?.get(name) ?? (await of(method)).offers.get(name),
    changed,
  }
}
