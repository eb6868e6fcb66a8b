import { findSpan, parseRaw, toRaw } from '../../../src/lib/raw-json.ts'
import { LIST_KINDS, type ListKind } from '../names/list-kinds.ts'
import { type Naming, namesOf } from '../names/naming.ts'
import { toPublicUri } from '../names/resource-uri.ts'
import { marking } from '../tool-modes/mark-server.ts'
import type { MemberSession } from './member-session.ts'

/** Something that a server offers: a tool, a prompt, a resource or a template. */
export interface Offer {
  readonly server: string
  /** The name or URI by which its server knows it. */
  readonly name: string
  /** Its item in the list of its server; raw text. */
  readonly item: string
}

/** The offers of several servers. */
interface Merged {
  /** By the name or URI by which clients know it. */
  readonly offers: ReadonlyMap<string, Offer>
  /** The result of a list request (raw text). */
  readonly result: string
}

/** One list of all servers. */
export interface MergedList extends Merged {
  /** Servers whose list is not known, with the reason. */
  readonly missing: ReadonlyMap<string, string>
}

/** The items that a server lists. */
interface ServerList {
  readonly server: string
  readonly items: readonly string[]
}

/** What was merged before, of the same lists. Clients that see the same share it. */
export interface KnownMerges {
  of(lists: readonly ServerList[], settings: readonly string[], merge: () => Merged): Merged
}

export function createKnownMerges(): KnownMerges {
  const merges = new Map<string, WeakRef<Merged>>()
  const gone = new FinalizationRegistry<string>(key => {
    if (!merges.get(key)?.deref()) merges.delete(key)
  })
  const ids = new WeakMap<readonly string[], number>()
  let count = 0

  function idOf(items: readonly string[]): number {
    const id = ids.get(items)
    if (id !== undefined) return id
    count += 1
    ids.set(items, count)
    return count
  }

  return {
    of(lists, settings, merge) {
      const key = [...settings, ...lists.map(({ server, items }) => `${server} ${idOf(items)}`)].join('\n')
      const known = merges.get(key)?.deref()
      if (known) return known
      const made = merge()
      merges.set(key, new WeakRef(made))
      gone.register(made, key)
      return made
    },
  }
}

/** How long a list waits for one server, in milliseconds. What comes later is told as a change of the list. */
const PATIENCE_MS = 5000

/**
 * Asks all servers for one of their lists at the same time. Of one that does not respond, the list that it had before
 * counts.
 *
 * @param options.onLate called when a list has come for which nobody waits any more
 */
export async function mergeLists(
  method: string,
  {
    sessions,
    naming,
    marksServers,
    known,
    onLate,
  }: {
    sessions: readonly MemberSession[]
    naming: Naming
    marksServers: boolean
    known: KnownMerges
    onLate: () => void
  },
): Promise<MergedList> {
  const kind = LIST_KINDS[method] as ListKind
  const missing = new Map<string, string>()
  const lists = await Promise.all(
    sessions.map(async session => {
      const { items, problem } = await listWithin(session, method, onLate)
      if (problem !== undefined) missing.set(session.server, problem)
      return { server: session.server, items }
    }),
  )
  return {
    ...known.of(lists, [method, naming], () => merge(lists, marksServers ? marking(kind) : kind, naming)),
    missing,
  }
}

function merge(lists: readonly ServerList[], kind: ListKind, naming: Naming): Merged {
  const all = lists.flatMap(({ server, items }) => items.flatMap(item => toOffer(server, item, kind) ?? []))
  const offers =
    kind.key === 'name'
      ? namesOf(all, naming)
      : new Map(all.map(offer => [toPublicUri({ server: offer.server, uri: offer.name }), offer]))
  const items = [...offers].map(([name, { server, item }]) => kind.rename(item, { server, name }))
  return { offers, result: `{"${kind.list}":[${items.join(',')}]}` }
}

async function listWithin(
  session: MemberSession,
  method: string,
  onLate: () => void,
): Promise<{ items: readonly string[]; problem?: string }> {
  const before = () => session.lastList(method) ?? []
  const items = session.list(method)
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(late.resolve, PATIENCE_MS, undefined).unref()
  try {
    const found = await Promise.race([items, late.promise])
    if (found) return { items: found }
    items.then(onLate, () => undefined)
    return { items: before(), problem: `it did not respond within ${PATIENCE_MS / 1000} seconds` }
  } catch (error) {
    return { items: before(), problem: error instanceof Error ? error.message : String(error) }
  } finally {
    clearTimeout(timer)
  }
}

/** Undefined for an item without a name. */
function toOffer(server: string, item: string, { key }: ListKind): Offer | undefined {
  const span = findSpan(item, { start: 0, end: item.length }, [key])
  const name = span && parseRaw(item.slice(span.start, span.end))
  return typeof name === 'string' ? { server, name, item } : undefined
}

/** The result of a list request (raw text). It names the servers that are missing. */
export function listResult({ result, missing }: MergedList): string {
  if (missing.size === 0) return result
  return `${result.slice(0, -1)},"_meta":{"keelson/missing":${toRaw(JSON.stringify([...missing.keys()]))}}}`
}
