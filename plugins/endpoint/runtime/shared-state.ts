import type { Agent } from 'undici'
import type { Members } from '../members/members.ts'
import type { WatchedMembers } from '../members/watch-members.ts'
import { type Breaker, createBreaker } from '../server/breaker.ts'
import { type Catalog, createCatalog } from '../server/catalog.ts'
import { createKnownMerges, type KnownMerges } from '../server/merged-lists.ts'

/** What all clients of an endpoint share. */
export interface SharedState {
  readonly members: Members
  readonly catalog: Catalog
  readonly merges: KnownMerges
  readonly breaker: Breaker
  /** The connections of those who have not logged in. */
  readonly agent: Agent
}

/** The shared states of endpoints; each is there while it has users. */
export interface SharedStates {
  /** Resolves when the servers of the endpoint are known. `release` ends the use. */
  of(endpoint: string): Promise<{ state: SharedState; release: () => void }>
}

export function createSharedStates(options: {
  watchFor: (endpoint: string) => WatchedMembers
  createAgent: (members: Members) => Agent
}): SharedStates {
  const { watchFor, createAgent } = options
  const used = new Map<string, { state: SharedState; ready: Promise<void>; close(): void; users: number }>()

  function create(endpoint: string) {
    const members = watchFor(endpoint)
    const agent = createAgent(members)
    const state = {
      ...{ members, agent },
      catalog: createCatalog(),
      merges: createKnownMerges(),
      breaker: createBreaker(),
    }
    function close(): void {
      members.close()
      void agent.destroy()
    }
    return { state, ready: members.look(), close, users: 0 }
  }

  return {
    async of(endpoint) {
      const mine = used.get(endpoint) ?? create(endpoint)
      used.set(endpoint, mine)
      mine.users += 1
      let isReleased = false
      function release(): void {
        if (isReleased) return
        isReleased = true
        mine.users -= 1
        if (mine.users > 0) return
        mine.close()
        if (used.get(endpoint) === mine) used.delete(endpoint)
      }
      try {
        await mine.ready
      } catch (error) {
        release()
        throw error
      }
      return { state: mine.state, release }
    },
  }
}
