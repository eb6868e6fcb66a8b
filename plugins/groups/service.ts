import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import type { Paths } from '../../src/paths.ts'
import { failures } from './failures.ts'
import { assertGroupName, DEFAULT_GROUP, type Group } from './group.ts'
import { createGroupStore } from './group-store.ts'

/** All rules about groups. */
export interface Groups {
  /** Fails with `group_exists`; of two callers at once one wins. */
  create(name: string): Promise<Group>
  /** By name; `default` is always among them. Files that cannot be read are left out, and told. */
  list(onLeftOut?: (path: string) => void): Promise<Group[]>
  /** Fails with `group_unknown`. */
  get(name: string): Promise<Group>
  /** Fails with `group_name_invalid` for what can name no group. */
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
   * Changes what the group's file holds, as one step: of two writers none loses anything. Answers
   * what it holds now. Makes the file of `default` on demand.
   */
  change(name: string, decide: (group: Group) => Group): Promise<Group>
  /** True when the client was not in it yet. */
  addClient(name: string, client: string): Promise<boolean>
  /** True when the client was in it. */
  removeClient(name: string, client: string): Promise<boolean>
  /**
   * Removes a group. Its workloads go with it, or move to `default`; a failure or a kill on the way
   * leaves the group with those that have not, and the same call finishes it.
   */
  remove(name: string, options: { workloads: 'move' | 'remove' }): Promise<Removal>
}

/** What became of the workloads of a removed group. */
export interface Removal {
  readonly moved: readonly string[]
  readonly removed: readonly string[]
}

/** What groups need of the run configs. */
interface Configs {
  list(): Promise<RunConfig[]>
  find(name: string): Promise<RunConfig | undefined>
  save(config: RunConfig): Promise<void>
}

export function createGroups(options: {
  paths: Pick<Paths, 'state'>
  log: Log
  configs: () => Promise<Configs>
  /** Takes workloads down and forgets them; resolves when that is done. */
  removeWorkloads: (names: readonly string[]) => Promise<readonly { name: string; error?: unknown }[]>
  /** Called when a group and its registrations are gone. */
  onRemoved?: (group: string) => Promise<void>
}): Groups {
  const { paths, log, configs, removeWorkloads } = options
  const store = createGroupStore({ paths, log })
  const empty = (name: string): Group => ({ name, registered_clients: [] })

  async function find(name: string): Promise<Group | undefined> {
    return (await store.find(name)) ?? (name === DEFAULT_GROUP ? empty(name) : undefined)
  }

  async function get(name: string): Promise<Group> {
    const group = await find(name)
    if (!group) throw failures.group_unknown({ group: name })
    return group
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

  /** Moves those that still name the group: one that was moved or removed meanwhile stays as it is. */
  async function moveToDefault(name: string): Promise<string[]> {
    const store = await configs()
    const moved: string[] = []
    for (const workload of await members(name)) {
      const config = await store.find(workload)
      if (config?.group !== name) continue
      await store.save({ ...config, group: DEFAULT_GROUP })
      moved.push(workload)
    }
    return moved
  }

  async function removeMembers(name: string): Promise<string[]> {
    const outcomes = await removeWorkloads(await members(name))
    const problems = outcomes
      .filter(({ error }) => error !== undefined && !isFailure(error, 'workload_missing'))
      .map(outcome => `${outcome.name}: ${messageOf(outcome.error)}`)
    if (problems.length) throw failures.group_not_emptied({ name, problems })
    return outcomes.map(outcome => outcome.name)
  }

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
    async remove(name, { workloads }) {
      await assertRemovable(name)
      const removed = workloads === 'remove' ? await removeMembers(name) : []
      const removal = await store.locked(name, async file => {
        const moved = await moveToDefault(name)
        await file.remove()
        // A workload may have been saved between the two; no other can come any more.
        return { removed, moved: [...moved, ...(await moveToDefault(name))] }
      })
      await options.onRemoved?.(name)
      return removal
    },
  }
}
