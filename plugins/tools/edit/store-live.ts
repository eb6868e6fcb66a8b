import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { Supervisor } from '../../../src/contracts/workload.ts'
import { settingsOf, TOOLS_OPERATION, type ToolsInput, type ToolsResult } from './tools-operation.ts'

/** Gives a workload exactly these settings. Returns whether clients see them at once. Fails as `keelson tools` does. */
export async function storeLive(supervisor: Supervisor, config: RunConfig): Promise<boolean> {
  const input: ToolsInput = { name: config.name, change: { reset: true, settings: settingsOf(config) } }
  const { isOpen } = (await supervisor.call(TOOLS_OPERATION, input, { start: true })) as ToolsResult
  return isOpen
}
