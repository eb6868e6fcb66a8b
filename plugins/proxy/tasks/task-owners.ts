/** Whose tasks those of a server are (MCP 2025-11-25), where callers log in. An owner is issuer and subject. */
export interface TaskOwners {
  /** Does nothing for a task that has an owner. */
  remember(id: string, owner: string): void
  /** A task that is not known is nobody's. */
  isOf(id: unknown, owner: string): boolean
  clear(): void
}

/** Of one owner; their oldest task is forgotten first, so that nobody pushes out tasks of others. */
const MOST_OF_ONE = 1000
const MOST_OWNERS = 10_000
const LONGEST_ID = 1024

export function createTaskOwners(): TaskOwners {
  const byOwner = new Map<string, Set<string>>()
  const byId = new Map<string, string>()

  function forget(ids: Iterable<string>): void {
    for (const id of ids) byId.delete(id)
  }

  return {
    remember(id, owner) {
      if (id.length > LONGEST_ID || byId.has(id)) return
      const own = byOwner.get(owner) ?? new Set()
      byOwner.delete(owner)
      byOwner.set(owner, own.add(id))
      byId.set(id, owner)
      const [oldest = id] = own
      if (own.size > MOST_OF_ONE && own.delete(oldest)) byId.delete(oldest)
      const [[first, ids] = ['', own]] = byOwner
      if (byOwner.size > MOST_OWNERS && byOwner.delete(first)) forget(ids)
    },
    isOf: (id, owner) => typeof id === 'string' && byId.get(id) === owner,
    clear() {
      byOwner.clear()
      byId.clear()
    },
  }
}
