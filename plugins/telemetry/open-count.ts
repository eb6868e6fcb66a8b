/** What is under way. */
export interface OpenCount {
  /** Returns the function that ends it. */
  add(): () => void
  /** Resolves when nothing is under way. */
  none(): Promise<void>
}

export function createOpenCount(): OpenCount {
  let count = 0
  let onNone: (() => void) | undefined
  return {
    add() {
      count += 1
      return () => {
        count -= 1
        if (count === 0) onNone?.()
      }
    },
    none: () => (count === 0 ? Promise.resolve() : new Promise<void>(resolve => (onNone = resolve))),
  }
}
