import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createGroups, type Groups } from '../../../plugins/groups/service.ts'
import { createWorkloadStore, type WorkloadStore } from '../../../plugins/state/workload-store.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export interface GroupsWorld {
  readonly home: string
  readonly groups: Groups
  readonly store: WorkloadStore
  readonly lines: string[]
  readonly pathOf: (group: string) => string
  /** Saves a workload of that group. */
  save(name: string, group?: string): Promise<void>
  write(group: string, text: string): Promise<void>
}

/** The groups of one user, with a real store of workloads. `stuck` are workloads that cannot be removed. */
export async function groupsWorld(
  options: { stuck?: readonly string[]; onRemoved?: (group: string) => Promise<void> } = {},
): Promise<GroupsWorld> {
  const { stuck = [], onRemoved } = options
  const home = await temporaryFolder()
  const paths = findPaths({ HOME: home })
  const lines: string[] = []
  const log = createLog({ write: line => lines.push(line), human: false, debug: false })
  const store = createWorkloadStore({ paths, log })
  const pathOf = (group: string) => join(paths.state, 'groups', `${group}.json`)
  const groups = createGroups({
    paths,
    log,
    configs: async () => store.configs,
    ...(onRemoved ? { onRemoved } : {}),
    removeWorkloads: names =>
      Promise.all(
        names.map(async name => {
          if (stuck.includes(name)) return { name, error: new Error('the engine is away') }
          await store.configs.remove(name)
          return { name }
        }),
      ),
  })
  return {
    home,
    groups,
    store,
    lines,
    pathOf,
    save: (name, group) =>
      store.configs.save({
        schema_version: 'v0.1.0',
        name,
        image: 'x',
        transport: 'stdio',
        port: 4000,
        ...(group ? { group } : {}),
      }),
    async write(group, text) {
      await mkdir(dirname(pathOf(group)), { recursive: true })
      await writeFile(pathOf(group), text)
    },
  }
}
