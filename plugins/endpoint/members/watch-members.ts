import { isDeepStrictEqual } from 'node:util'
import type { Member, Members } from './members.ts'

/** Members that are read anew when a workload may have changed. */
export interface WatchedMembers extends Members {
  /** Reads them once more. Resolves when `current` is what was read. */
  look(): Promise<void>
  close(): void
}

export function watchMembers(options: {
  /** Calls `look` when a workload may have changed. Returns the function that ends that. */
  watch: (look: () => Promise<void>) => () => void
  read: () => Promise<readonly Member[]>
}): WatchedMembers {
  const { watch, read } = options
  const listeners = new Set<() => void>()
  let current: readonly Member[] = []

  async function look(): Promise<void> {
    const found = await read()
    if (isDeepStrictEqual(found, current)) return
    current = found
    for (const hear of listeners) hear()
  }

  const stopWatching = watch(look)
  return {
    get current() {
      return current
    },
    onChange(hear) {
      listeners.add(hear)
      return () => void listeners.delete(hear)
    },
    look,
    close() {
      stopWatching()
      listeners.clear()
    },
  }
}
