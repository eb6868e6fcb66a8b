import type { Members } from './members.ts'
import type { WatchedMembers } from './watch-members.ts'

/** The servers of endpoints. All clients of an endpoint share what is watched for it. */
export interface SharedMembers {
  /** Resolves when the servers are known. `release` ends the use. */
  of(endpoint: string): Promise<{ members: Members; release: () => void }>
}

export function shareMembers(watchFor: (endpoint: string) => WatchedMembers): SharedMembers {
  const used = new Map<string, { watched: WatchedMembers; known: Promise<void>; users: number }>()
  return {
    async of(endpoint) {
      let entry = used.get(endpoint)
      if (!entry) {
        const watched = watchFor(endpoint)
        entry = { watched, known: watched.look(), users: 0 }
        used.set(endpoint, entry)
      }
      const mine = entry
      mine.users += 1
      await mine.known
      let isReleased = false
      return {
        members: mine.watched,
        release() {
          if (isReleased) return
          isReleased = true
          mine.users -= 1
          if (mine.users > 0) return
          mine.watched.close()
          if (used.get(endpoint) === mine) used.delete(endpoint)
        },
      }
    },
  }
}
