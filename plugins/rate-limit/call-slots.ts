/** The calls in flight of a workload, of which there may be so many. */
export interface CallSlots {
  /** Takes slots for calls of a user. Returns the function that gives them back; undefined: not so many are free. */
  enter(user: string, calls: number): (() => void) | undefined
}

export function createCallSlots({ most, mostPerUser }: { most: number; mostPerUser: number }): CallSlots {
  let inFlight = 0
  const byUser = new Map<string, number>()

  function add(user: string, calls: number): void {
    inFlight += calls
    const ofUser = (byUser.get(user) ?? 0) + calls
    if (ofUser > 0) byUser.set(user, ofUser)
    else byUser.delete(user)
  }

  return {
    enter(user, calls) {
      if (inFlight + calls > most || (byUser.get(user) ?? 0) + calls > mostPerUser) return undefined
      add(user, calls)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        add(user, -calls)
      }
    },
  }
}
