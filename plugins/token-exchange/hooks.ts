import type { App } from '../../src/app.ts'
import type { Hooks } from '../../src/contracts/hooks.ts'
import { forgetClientSecret } from './client-secret.ts'

/** Deletes what was kept for a workload that is gone. */
export const tokenExchangeHooks = (app: App): Hooks => ({
  workloadRemoved: config => forgetClientSecret(app, config),
})
