import type { Plugin } from '../../src/plugin.ts'
import type { WorkloadStore } from './store.ts'

export type { RunConfigStore } from './store/configs.ts'
export { assertWorkloadName, isWorkloadName } from './store/name.ts'
export type { StatusChange, StatusStore } from './store/statuses.ts'
export type { WorkloadStore } from './store.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    workloadStore: WorkloadStore
  }
}

/** What a user does with workloads. */
const workloads: Plugin = {
  name: 'workloads',
  services: {
    workloadStore: async app => (await import('./store.ts')).createWorkloadStore(app),
  },
}
export default workloads
