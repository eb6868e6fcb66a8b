/** Removes a group, moving its workloads to `default`; says `ready` first. */
import { createGroups } from '../../../plugins/groups/service.ts'
import { createWorkloadStore } from '../../../plugins/state/workload-store.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'

const [home = '', group = ''] = process.argv.slice(2)
const paths = findPaths({ HOME: home })
const log = createLog({ write: () => undefined, human: false, debug: false })
const groups = createGroups({
  paths,
  log,
  configs: async () => createWorkloadStore({ paths, log }).configs,
  removeWorkloads: async () => [],
})
process.stdout.write('ready\n')
await groups.remove(group, { workloads: 'move' })
