import type { RunConfig } from '../../src/contracts/run-config.ts'
import { isFailure, messageOf } from '../../src/errors.ts'
import { failures } from './failures.ts'
import { DEFAULT_GROUP } from './group.ts'
import type { GroupStore } from './group-store.ts'

/** What became of the workloads of a removed group. */
export interface Removal {
  readonly moved: readonly string[]
  readonly removed: readonly string[]
}

/** What groups need of the run configs. */
export interface Configs {
  list(): Promise<RunConfig[]>
  find(name: string): Promise<RunConfig | undefined>
  save(config: RunConfig): Promise<void>
}

/** Stops and deletes workloads; resolves when that is done, with the error of each that failed. */
export type RemoveWorkloads = (
  names: readonly string[],
) => Promise<readonly { name: string; error?: unknown }[]>

/** Removes a group with its workloads, or moves them to `default`. */
export function createGroupRemoval(options: {
  store: GroupStore
  configs: () => Promise<Configs>
  members: (group: string) => Promise<string[]>
  removeWorkloads: RemoveWorkloads
  /** Called when a group and its registrations are gone. */
  onRemoved?: (group: string) => Promise<void>
}): (name: string, options: { workloads: 'move' | 'remove' }) => Promise<Removal> {
  const { store, configs, members, removeWorkloads, onRemoved } = options

  /** A workload that was moved or removed in the meantime stays as it is. */
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

  return async (name, { workloads }) => {
    const removed = workloads === 'remove' ? await removeMembers(name) : []
    const removal = await store.locked(name, async file => {
      const moved = await moveToDefault(name)
      await file.remove()
      // A workload may have been saved in the group just before its file was removed; no other can follow.
      return { removed, moved: [...moved, ...(await moveToDefault(name))] }
    })
    await onRemoved?.(name)
    return removal
  }
}
