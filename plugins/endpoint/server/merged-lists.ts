import { findSpan, parseRaw } from '../../../src/lib/raw-json.ts'
import { LIST_KINDS, type ListKind } from '../names/list-kinds.ts'
import { type Naming, namesOf } from '../names/naming.ts'
import { toPublicUri } from '../names/resource-uri.ts'
import type { MemberSession } from './member-session.ts'

/** Something that a server offers: a tool, a prompt, a resource or a template. */
export interface Offer {
  readonly server: string
  /** The name or URI by which its server knows it. */
  readonly name: string
  /** Its item in the list of its server; raw text. */
  readonly item: string
}

/** One list of all servers. */
export interface MergedList {
  /** By the name or URI by which clients know it. */
  readonly offers: ReadonlyMap<string, Offer>
  /** Servers whose list is not known, with the reason. */
  readonly missing: ReadonlyMap<string, string>
}

/** How long a list waits for one server, in milliseconds. What comes later is told as a change of the list. */
const PATIENCE_MS = 5000

/**
 * Asks all servers for one of their lists at the same time. Of one that does not respond, the list that it had before
 * counts.
 *
 * @param onLate called when a list has come for which nobody waits any more
 */
export async function mergeLists(
  method: string,
  { sessions, naming, onLate }: { sessions: readonly MemberSession[]; naming: Naming; onLate: () => void },
): Promise<MergedList> {
  const kind = LIST_KINDS[method] as ListKind
  const missing = new Map<string, string>()
  const lists = await Promise.all(
    sessions.map(async session => {
      const { items, problem } = await listWithin(session, method, onLate)
      if (problem !== undefined) missing.set(session.server, problem)
      return items.flatMap(item => toOffer(session.server, item, kind) ?? [])
    }),
  )
  const offers = lists.flat()
  if (kind.key === 'name') return { offers: namesOf(offers, naming), missing }
  const byUri = offers.map(offer => [toPublicUri({ server: offer.server, uri: offer.name }), offer] as const)
  return { offers: new Map(byUri), missing }
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

/** The result of a list request (raw text). */
export function listResult(method: string, { offers }: MergedList): string {
  const { list, rename } = LIST_KINDS[method] as ListKind
  const items = [...offers].map(([name, { server, item }]) => rename(item, { server, name }))
  return `{"${list}":[${items.join(',')}]}`
}
