import { suggest } from '../../src/lib/suggest.ts'
import type { Log } from '../../src/log.ts'
import type { Paths } from '../../src/paths.ts'
import { failures } from './failures.ts'
import { assertGroupName, DEFAULT_GROUP, type Group } from './group.ts'
import { createGroupStore } from './group-store.ts'
import { type Configs, createGroupRemoval, type Removal, type RemoveWorkloads } from './remove-group.ts'

/** All rules about groups. */
export interface Groups {
  /** Fails with `group_exists`; of two calls at the same time one succeeds. */
  create(name: string): Promise<Group>
  /** By name; `default` is always among them. Files that cannot be read are left out, and passed to `onLeftOut`. */
  list(onLeftOut?: (path: string) => void): Promise<Group[]>
  /** Fails with `group_unknown`. */
  get(name: string): Promise<Group>
  /** Fails with `group_name_invalid` when the text cannot be the name of a group. */
  find(name: string): Promise<Group | undefined>
  /** Fails with `group_name_invalid`. */
  assertName(name: string): void
  /** Fails with `group_unknown`. */
  assertExists(name: string): Promise<void>
  /** Fails with `group_default_stays` or `group_unknown`. */
  assertRemovable(name: string): Promise<void>
  /** Names of the workloads in it, running or not. */
  members(name: string): Promise<string[]>
  /**
   * Changes the file of a group under its lock, and returns its new content. The file of `default` is made
   * on demand. Fails with `group_unknown`.
   */
  change(name: string, decide: (group: Group) => Group): Promise<Group>
  /** True when the client was not in it yet. */
  addClient(name: string, client: string): Promise<boolean>
  /** True when the client was in it. */
  removeClient(name: string, client: string): Promise<boolean>
  /**
   * Removes a group. Its workloads are removed too, or moved to `default`. After a failure or a kill the group
   * still has the workloads that are left, and the same call removes the rest. Fails with
   * `group_default_stays`, `group_unknown` or `group_not_emptied`.
   */
  remove(name: string, options: { workloads: 'move' | 'remove' }): Promise<Removal>
}

export function createGroups(options: {
  paths: Pick<Paths, 'state'>
  log: Log
  configs: () => Promise<Configs>
  removeWorkloads: RemoveWorkloads
  /** Called when a group and its registrations are gone. */
  onRemoved?: (group: string) => Promise<void>
}): Groups {
  const { paths, log, configs } = options
  const store = createGroupStore({ paths, log })
  const remove = createGroupRemoval({ ...options, store, members })
  const empty = (name: string): Group => ({ name, registered_clients: [] })

  async function find(name: string): Promise<Group | undefined> {
    return (await store.find(name)) ?? (name === DEFAULT_GROUP ? empty(name) : undefined)
  }

  async function get(name: string): Promise<Group> {
    const group = await find(name)
    if (group) return group
    const near = suggest(name, [DEFAULT_GROUP, ...(await store.list()).map(known => known.name)])
    throw failures.group_unknown({ group: name, near })
  }

  async function members(name: string): Promise<string[]> {
    return (await (await configs()).list())
      .filter(config => (config.group || DEFAULT_GROUP) === name)
      .map(config => config.name)
  }

  async function assertRemovable(name: string): Promise<void> {
    if (name.toLowerCase() === DEFAULT_GROUP) throw failures.group_default_stays()
    await get(name)
  }

  const change: Groups['change'] = (name, decide) =>
    store.locked(name, async file => {
      const before = await get(name)
      const after = decide(before)
      if (JSON.stringify(after) !== JSON.stringify(before)) await file.save(after)
      return after
    })

  return {
    create: name =>
      store.locked(name, async file => {
        if (await find(name)) throw failures.group_exists({ name })
        await file.save(empty(name))
        return empty(name)
      }),
    async list(onLeftOut) {
      const groups = await store.list(onLeftOut)
      if (groups.some(group => group.name === DEFAULT_GROUP)) return groups
      return [...groups, empty(DEFAULT_GROUP)].sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    get,
    find,
    assertName: assertGroupName,
    assertExists: async name => void (await get(name)),
    assertRemovable,
    members,
    change,
    async addClient(name, client) {
      let added = false
      await change(name, group => {
        added = !group.registered_clients.includes(client)
        return added ? { ...group, registered_clients: [...group.registered_clients, client] } : group
      })
      return added
    },
    async removeClient(name, client) {
      let removed = false
      await change(name, group => {
        const rest = group.registered_clients.filter(other => other !== client)
        removed = rest.length < group.registered_clients.length
        return { ...group, registered_clients: rest }
      })
      return removed
    },
    async remove(name, options) {
      await assertRemovable(name)
      return remove(name, options)
    },
  }
}
