/**
 * Places that callers take and give back. One caller gets at most as many as are still free, so that half are left when
 * one takes all it can, a quarter when a second one does, and so on: the next caller always finds some.
 */
export interface FairShare {
  /** Whether so many places can be taken. Undefined: for the proxy itself, which gets any free one. */
  hasRoom(holder: string | undefined, count?: number): boolean
  /** Takes a place. False where there is no room. */
  take(holder: string | undefined): boolean
  /** Gives a place back that was taken. */
  give(holder: string | undefined): void
}

export function createFairShare(max: number): FairShare {
  const byHolder = new Map<string, number>()
  let taken = 0

  function hasRoom(holder: string | undefined, count = 1): boolean {
    const free = max - taken
    if (holder === undefined) return count <= free
    const held = byHolder.get(holder) ?? 0
    // Each place that is taken is one more that is held, and one less that is free.
    return held + 2 * (count - 1) < free
  }

  return {
    hasRoom,
    take(holder) {
      if (!hasRoom(holder)) return false
      taken += 1
      if (holder !== undefined) byHolder.set(holder, (byHolder.get(holder) ?? 0) + 1)
      return true
    },
    give(holder) {
      taken -= 1
      if (holder === undefined) return
      const held = (byHolder.get(holder) ?? 1) - 1
      if (held === 0) byHolder.delete(holder)
      else byHolder.set(holder, held)
    },
  }
}
