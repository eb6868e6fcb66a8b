import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { callToolsOperation } from './call-operation.ts'
import { settingsOf } from './tools-operation.ts'

/** Gives a workload exactly these settings. Returns whether clients see them at once. Fails as `keelson tools` does. */
export async function storeLive(app: App, config: RunConfig): Promise<boolean> {
  const change = { reset: true, settings: settingsOf(config) }
  return (await callToolsOperation(app, { name: config.name, change })).isOpen
}
