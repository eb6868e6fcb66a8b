import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'

/** Whether requests get credentials of their caller's, by another plugin. */
export const actsForCallers = async (app: App, config: RunConfig): Promise<boolean> =>
  (await app.contributions('sections')).some(section => section.actsForCallers?.(config))
