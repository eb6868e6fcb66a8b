import type { ListedTool } from '../../src/contracts/pipeline.ts'
import { messageOf } from '../../src/errors.ts'
import type { Log } from '../../src/log.ts'
import { checkNames, hasNames } from './check-names.ts'
import { failures } from './failures.ts'
import type { Settings } from './selection.ts'

/**
 * Fails with `tools_unknown` when a name is not one of the server's. A server that cannot be asked is believed: only a
 * warning is logged.
 */
export async function verifyNames(
  settings: Settings,
  {
    workload,
    listTools,
    log,
  }: { workload: string; listTools: () => Promise<readonly ListedTool[] | undefined>; log: Log },
): Promise<void> {
  if (!hasNames(settings)) return
  const unchecked = (problem: string) =>
    log.warn(`The names of tools in its run config are not checked: ${problem}.`)
  let tools: readonly ListedTool[] | undefined
  try {
    tools = await listTools()
  } catch (error) {
    return unchecked(messageOf(error))
  }
  if (!tools) return unchecked('the server wants a login')
  const { errors, warnings } = checkNames(settings, tools)
  for (const warning of warnings) log.warn(warning)
  if (errors.length) throw failures.tools_unknown({ workload, errors })
}
