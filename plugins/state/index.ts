import type { Plugin } from '../../src/plugin.ts'
import type { WorkloadStore } from './workload-store.ts'

export { failures as stateFailures } from './failures.ts'
export type { UpgradeRecord } from './upgrade-records.ts'
export { assertWorkloadName, workloadName } from './workload-name.ts'
export type { WorkloadStore } from './workload-store.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    workloadStore: WorkloadStore
  }
}

/** Keeps on disk what must outlive every process: run configs, statuses and upgrades under way. */
const state: Plugin = {
  name: 'state',
  services: {
    workloadStore: async app => (await import('./workload-store.ts')).createWorkloadStore(app),
  },
}
export default state
