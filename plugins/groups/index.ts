import type { Plugin } from '../../src/plugin.ts'
import { GroupCreate } from './commands/group-create.ts'
import { GroupList } from './commands/group-list.ts'
import { GroupRemove } from './commands/group-rm.ts'
import type { Groups } from './service.ts'

export type { Group } from './group.ts'
export type { Groups } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    groups: Groups
  }
}

/** Names for sets of workloads, and the client applications that see them. */
const groups: Plugin = {
  name: 'groups',
  uses: ['workloads', 'workloadStore'],
  commands: [GroupCreate, GroupList, GroupRemove],
  routes: async (api, app) => (await import('./routes.ts')).groupRoutes(api, app),
  services: {
    groups: async app =>
      (await import('./service.ts')).createGroups({
        paths: app.paths,
        log: app.log,
        configs: async () => (await app.service('workloadStore')).configs,
        removeWorkloads: async names => (await app.service('workloads')).remove(names),
        onRemoved: group => app.notify('groupRemoved', group),
      }),
  },
}
export default groups
