import { CAPACITY, type Capacity } from './capacity.ts'
import type { EntryKind, RawStore } from './store.ts'

interface Entry {
  readonly value: string
  /** In milliseconds since 1970. */
  readonly expires: number
}

interface Kind {
  readonly entries: Map<string, Entry>
  /** No entry expires before. */
  earliest: number
  /** Goes round the entries, also of those that are added meanwhile. */
  sweeper: MapIterator<[string, Entry]>
}

/** How many entries are looked at whenever one is added: about as many as are removed, or more. */
const STEPS = 8

function sweep(kind: Kind, time: number, most: number): void {
  for (let step = 0; step < most; step++) {
    const { done, value } = kind.sweeper.next()
    if (done) {
      kind.sweeper = kind.entries.entries()
      return
    }
    if (value[1].expires <= time) kind.entries.delete(value[0])
  }
}

/** Looks at all entries, unless it is known that none of them has expired. */
function sweepAll(kind: Kind, time: number): void {
  if (kind.earliest > time) return
  kind.sweeper = kind.entries.entries()
  sweep(kind, time, Number.POSITIVE_INFINITY)
  kind.earliest = Number.POSITIVE_INFINITY
  for (const { expires } of kind.entries.values()) kind.earliest = Math.min(kind.earliest, expires)
}

/** Keeps everything in this process: it is gone when the process ends. */
export function createMemoryStore({
  now = Date.now,
  capacity = CAPACITY,
}: {
  readonly now?: () => number
  readonly capacity?: Capacity
} = {}): RawStore {
  const kinds = new Map<EntryKind, Kind>()

  function kindOf(kind: EntryKind): Kind {
    const known = kinds.get(kind)
    if (known) return known
    const entries = new Map<string, Entry>()
    const made = { entries, earliest: Number.POSITIVE_INFINITY, sweeper: entries.entries() }
    kinds.set(kind, made)
    return made
  }

  function find(kind: EntryKind, key: string): Entry | undefined {
    const { entries } = kindOf(kind)
    const entry = entries.get(key)
    if (entry && entry.expires > now()) return entry
    entries.delete(key)
    return undefined
  }

  function set(kind: EntryKind, key: string, value: string, lifetimeMs: number): void {
    const found = kindOf(kind)
    const expires = now() + lifetimeMs
    found.entries.set(key, { value, expires })
    found.earliest = Math.min(found.earliest, expires)
  }

  function take(kind: EntryKind, key: string): string | undefined {
    const entry = find(kind, key)
    kindOf(kind).entries.delete(key)
    return entry?.value
  }

  return {
    encoding: 'latin1', // of which V8 keeps a byte for each character
    async add(kind, key, value, lifetimeMs) {
      const found = kindOf(kind)
      sweep(found, now(), STEPS)
      if (found.entries.size >= capacity[kind]) sweepAll(found, now())
      if (find(kind, key) || found.entries.size >= capacity[kind]) return false
      set(kind, key, value, lifetimeMs)
      return true
    },
    get: async (kind, key) => find(kind, key)?.value,
    async replace(kind, key, expected, value, lifetimeMs, newKey = key) {
      if (find(kind, key)?.value !== expected) return false
      if (newKey !== key && find(kind, newKey)) return false
      take(kind, key)
      set(kind, newKey, value, lifetimeMs)
      return true
    },
    take: async (kind, key) => take(kind, key),
    async delete(kind, key) {
      kindOf(kind).entries.delete(key)
    },
    count: async kind => kindOf(kind).entries.size,
    async close() {
      kinds.clear()
    },
  }
}
