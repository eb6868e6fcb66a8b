import type { Plugin } from '../../src/plugin.ts'
import { Clone } from './commands/clone.ts'
import { Edit } from './commands/edit.ts'
import { Export } from './commands/export.ts'
import { Inspect } from './commands/inspect.ts'
import { List } from './commands/list-workloads.ts'
import { Logs } from './commands/logs.ts'
import { LogsPrune } from './commands/logs-prune.ts'
import { Rename } from './commands/rename.ts'
import { Restart } from './commands/restart.ts'
import { Remove } from './commands/rm.ts'
import { Run } from './commands/run.ts'
import { Start } from './commands/start.ts'
import { Stats } from './commands/stats.ts'
import { StatusOf } from './commands/status.ts'
import { Stop } from './commands/stop.ts'
import { instanceSection } from './instance-section.ts'
import type { Workloads } from './service.ts'
import { imageTarget } from './targets/image.ts'
import { remoteTarget } from './targets/remote.ts'
import { schemeTarget } from './targets/scheme.ts'
import { variablesSection } from './variables-section.ts'

export type { Workloads } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    workloads: Workloads
  }
}

/** What a user does with workloads. */
const workloads: Plugin = {
  name: 'workloads',
  needs: ['callers', 'egress', 'image-verification', 'proxy', 'recipes', 'runtimes', 'state'],
  uses: ['callerToken', 'recipes', 'runtimes', 'supervisor', 'workloadStore'],
  wants: ['callerAuths', 'groups', 'hiddenFiles', 'imageVerification', 'registry', 'secrets', 'upgrades'],
  commands: [
    Run,
    List,
    StatusOf,
    Inspect,
    Stop,
    Start,
    Restart,
    Remove,
    Logs,
    LogsPrune,
    Edit,
    Rename,
    Stats,
    Clone,
    Export,
  ],
  routes: async (api, app) => (await import('./routes.ts')).workloadRoutes(api, app),
  services: {
    workloads: async app =>
      (await import('./service.ts')).createWorkloads({ app, store: await app.service('workloadStore') }),
  },
  provides: {
    targets: [schemeTarget, remoteTarget, imageTarget],
    sections: [instanceSection, variablesSection],
  },
}
export default workloads
