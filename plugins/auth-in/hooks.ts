import type { App } from '../../src/app.ts'
import type { Hooks } from '../../src/contracts/hooks.ts'
import { clientSecretIn } from './client-secret.ts'

/** Deletes what was kept for a workload that is gone. */
export const authInHooks = (app: App): Hooks => ({
  workloadRemoved: config => clientSecretIn(app).forget(config),
})
