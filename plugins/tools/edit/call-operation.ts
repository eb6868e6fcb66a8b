import type { App } from '../../../src/app.ts'
import { TOOLS_OPERATION, type ToolsInput, type ToolsResult } from './tools-operation.ts'

/**
 * Shows or changes the tools of a workload at the supervisor. Before a change it removes what a killed
 * `keelson upgrade apply` has left, because the supervisor refuses changes while there is an upgrade record.
 */
export async function callToolsOperation(app: App, input: ToolsInput): Promise<ToolsResult> {
  const supervisor = await app.service('supervisor')
  if (input.change && !input.preview) await settleKilledUpgrade(app, input.name)
  return (await supervisor.call(TOOLS_OPERATION, input, { start: true })) as ToolsResult
}

async function settleKilledUpgrade(app: App, name: string): Promise<void> {
  const { upgrades } = await app.service('workloadStore')
  if (!(await upgrades.find(name))) return
  const lock = await upgrades.tryLock(name)
  if (!lock) return // its command runs, and the supervisor refuses the change
  try {
    await (await app.service('supervisor')).settleUpgrade(name)
  } finally {
    await lock.release()
  }
}
