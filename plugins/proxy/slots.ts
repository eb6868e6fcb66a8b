/** A bag of things that come and go by the thousand. */
export interface Slots<T> {
  /** Takes one in and gives the slot to release it by. */
  add(value: T): number
  release(slot: number): void
  readonly size: number
  values(): T[]
}

/**
 * A bag with reused slots.
 *
 * Not a `Set`: its table is made anew every few dozen additions, and a discarded table that has reached V8's
 * old generation keeps later tables and all they hold alive until the next full collection. With one
 * addition per request that promoted every request.
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
