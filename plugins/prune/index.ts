import type { Plugin } from '../../src/plugin.ts'
import { PruneCommand } from './commands/prune.ts'
import type { Prune } from './service.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    prune: Prune
  }
}

/** Deletes what no workload uses any more. */
const prune: Plugin = {
  name: 'prune',
  needs: ['runtimes', 'state', 'workloads'],
  uses: ['runtimes', 'workloads', 'workloadStore'],
  commands: [PruneCommand],
  services: {
    async prune(app) {
      const [{ createPrune }, store, runtimes, workloads] = await Promise.all([
        import('./service.ts'),
        app.service('workloadStore'),
        app.service('runtimes'),
        app.service('workloads'),
      ])
      return createPrune({ store, runtimes, workloads, log: app.log })
    },
  },
}
export default prune
