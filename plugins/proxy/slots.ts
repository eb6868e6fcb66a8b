/** A collection for many values that are added and removed often. */
export interface Slots<T> {
  /** Adds a value and returns the slot that `release` takes. */
  add(value: T): number
  release(slot: number): void
  readonly size: number
  values(): T[]
}

/**
 * Creates a collection that reuses its slots.
 *
 * A `Set` replaces its table every few dozen additions. A replaced table in V8's old generation keeps later
 * tables and their values in memory until the next full collection. With one addition for each request, that
 * kept every request.
 */
export function createSlots<T>(): Slots<T> {
  const slots: (T | undefined)[] = []
  const free: number[] = []
  return {
    add(value) {
      const slot = free.pop() ?? slots.length
      slots[slot] = value
      return slot
    },
    release(slot) {
      slots[slot] = undefined
      free.push(slot)
    },
    get size() {
      return slots.length - free.length
    },
    values: () => slots.filter(value => value !== undefined),
  }
}
