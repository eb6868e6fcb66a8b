/**
 * Places that callers take and give back. One caller gets at most as many as are still free, so that half are left when
 * one takes all it can, a quarter when a second one does, and so on: the next caller always finds some.
 */
export interface FairShare {
  /** Whether `count` places can be taken. Without a holder they are for the proxy itself, which may take any free place. */
  hasRoom(holder: string | undefined, count?: number): boolean
  /** Takes one place, or more. False where there is no room for all. */
  take(holder: string | undefined, count?: number): boolean
  /** Gives places back that were taken. */
  give(holder: string | undefined, count?: number): void
}

export function createFairShare(max: number): FairShare {
  const byHolder = new Map<string, number>()
  let taken = 0

  function hasRoom(holder: string | undefined, count = 1): boolean {
    if (count === 0) return true
    const free = max - taken
    if (holder === undefined) return count <= free
    const held = byHolder.get(holder) ?? 0
    // Each place that is taken is one more that is held, and one less that is free.
    return held + 2 * (count - 1) < free
  }

  return {
    hasRoom,
    take(holder, count = 1) {
      if (!hasRoom(holder, count)) return false
      taken += count
      if (holder !== undefined) byHolder.set(holder, (byHolder.get(holder) ?? 0) + count)
      return true
    },
    give(holder, count = 1) {
      taken -= count
      if (holder === undefined) return
      const held = (byHolder.get(holder) ?? 0) - count
      if (held <= 0) byHolder.delete(holder)
      else byHolder.set(holder, held)
    },
  }
}
