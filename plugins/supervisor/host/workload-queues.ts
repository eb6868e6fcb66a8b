/** Runs work in order per workload; different workloads run concurrently. */
export interface WorkloadQueues {
  run<T>(name: string, work: () => Promise<T>): Promise<T>
  /** How many names have work. */
  readonly size: number
  /** Resolves when nothing is queued any more. */
  idle(): Promise<void>
}

export function createWorkloadQueues(): WorkloadQueues {
  const tails = new Map<string, Promise<unknown>>()
  return {
    run(name, work) {
      const result = (tails.get(name) ?? Promise.resolve()).then(work)
      const tail = result
        .catch(() => undefined)
        .then(() => {
          if (tails.get(name) === tail) tails.delete(name)
        })
      tails.set(name, tail)
      return result
    },
    get size() {
      return tails.size
    },
    async idle() {
      while (tails.size) await Promise.all(tails.values())
    },
  }
}
