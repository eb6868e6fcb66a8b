/** Values that are kept until a point in time each; of too many, those that were not asked for the longest go first. */
export interface ExpiringMap<T> {
  /** The value, unless its time is over. */
  get(key: string): T | undefined
  /** `until`: milliseconds since 1970. */
  set(key: string, value: T, until: number): void
  delete(key: string): void
  readonly size: number
}

export function createExpiringMap<T>({
  most,
  now = Date.now,
}: {
  /** How many values are kept at most. */
  readonly most: number
  readonly now?: () => number
}): ExpiringMap<T> {
  const entries = new Map<string, { readonly value: T; readonly until: number }>()
  /** The last key of `entries`. */
  let newest: string | undefined
  return {
    get(key) {
      const found = entries.get(key)
      if (!found) return undefined
      if (found.until <= now()) {
        entries.delete(key)
        return undefined
      }
      if (key === newest) return found.value
      entries.delete(key)
      entries.set(key, found) // the last in the map is the last that was asked for
      newest = key
      return found.value
    },
    set(key, value, until) {
      entries.delete(key)
      if (until <= now()) return
      entries.set(key, { value, until })
      newest = key
      for (const oldest of entries.keys()) {
        if (entries.size <= most) break
        entries.delete(oldest)
      }
    },
    delete: key => void entries.delete(key),
    get size() {
      return entries.size
    },
  }
}
