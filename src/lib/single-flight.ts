/** Calls for the same key while its work runs get the result of that work. */
export interface SingleFlight<T> {
  run(key: string, work: () => Promise<T>): Promise<T>
  /** Whether work for the key runs. */
  has(key: string): boolean
  /** How many keys have work that runs. */
  readonly size: number
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const running = new Map<string, Promise<T>>()
  return {
    run(key, work) {
      const known = running.get(key)
      if (known) return known
      const started = work().finally(() => running.delete(key))
      running.set(key, started)
      return started
    },
    has: key => running.has(key),
    get size() {
      return running.size
    },
  }
}
