import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { callToolsOperation } from './call-operation.ts'
import { settingsOf } from './tools-operation.ts'

/**
 * Replaces the settings of a workload, whose run config was `before`. Returns whether clients see them at once. Fails as
 * `keelson tools` does, and with `workload_changed`.
 */
export async function storeLive(app: App, config: RunConfig, before: RunConfig): Promise<boolean> {
  const change = { reset: true, settings: settingsOf(config) }
  return (await callToolsOperation(app, { name: config.name, change, before })).isOpen
}
