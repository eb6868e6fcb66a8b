import type { App } from '../../src/app.ts'
import type { Hooks } from '../../src/contracts/hooks.ts'
import { forgetHeaders } from './header-secrets.ts'

/** Deletes what was kept for a workload that is gone. */
export const telemetryHooks = (app: App): Hooks => ({
  workloadRemoved: config => forgetHeaders(app, config),
})
