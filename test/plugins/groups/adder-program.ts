/** Adds `count` clients named after this writer to a group; says `ready` first. */
import { createGroups } from '../../../plugins/groups/service.ts'
import { createLog } from '../../../src/log.ts'
import { findPaths } from '../../../src/paths.ts'

const [home = '', group = '', writer = '', count = '0'] = process.argv.slice(2)
const groups = createGroups({
  paths: findPaths({ HOME: home }),
  log: createLog({ write: () => undefined, human: false, debug: false }),
  configs: () => Promise.reject(new Error('not here')),
  removeWorkloads: async () => [],
})
process.stdout.write('ready\n')
for (let i = 0; i < Number(count); i++) await groups.addClient(group, `${writer}-${i}`)
