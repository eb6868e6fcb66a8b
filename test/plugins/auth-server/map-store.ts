import type { EntryKind, Store } from '../../../plugins/auth-server/storage/store.ts'

/** A store whose content a test can see. */
export function mapStore(now: () => number = Date.now) {
  const kept = new Map<string, { kind: EntryKind; value: string; until: number }>()
  const id = (kind: EntryKind, key: string) => `${kind} ${key}`
  function live(kind: EntryKind, key: string) {
    const found = kept.get(id(kind, key))
    if (found && found.until > now()) return found
    kept.delete(id(kind, key))
    return undefined
  }
  const set = (kind: EntryKind, key: string, value: string, ms: number): true =>
    kept.set(id(kind, key), { kind, value, until: now() + ms }) && true
  const store: Store = {
    add: async (kind, key, value, ms) => !live(kind, key) && set(kind, key, value, ms),
    get: async (kind, key) => live(kind, key)?.value,
    replace: async (kind, key, expected, value, ms) =>
      live(kind, key)?.value === expected && set(kind, key, value, ms),
    async take(kind, key) {
      const found = live(kind, key)
      kept.delete(id(kind, key))
      return found?.value
    },
    delete: async (kind, key) => void kept.delete(id(kind, key)),
    count: async kind => [...kept.values()].filter(one => one.kind === kind).length,
    close: async () => {},
  }
  return { store, all: () => [...kept.values()].map(({ kind, value }) => ({ kind, value })) }
}
