import type { App } from '../../src/app.ts'
import type { Hooks } from '../../src/contracts/hooks.ts'
import { createWorkloadSecrets } from './credentials/workload-secrets.ts'

/** Deletes what was kept for a workload that is gone. */
export const authOutHooks = (app: App): Hooks => ({
  workloadRemoved: config => createWorkloadSecrets(app).forget(config),
})
