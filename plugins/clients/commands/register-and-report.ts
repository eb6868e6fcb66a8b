import type { App } from '../../../src/app.ts'
import { reportProblems } from './report-problems.ts'

/**
 * Registers clients once everything runs that should, and prints why entries could not be written. Returns
 * the exit code.
 */
export async function registerAndReport(
  app: App,
  ids: readonly string[],
  groups: readonly string[],
  say: (line: string) => void,
): Promise<number> {
  const clients = await app.service('clients')
  for (const { id, deprecated } of ids.map(clients.get)) {
    if (deprecated) say(`Warning: ${id} is deprecated: ${deprecated}.`)
  }
  await (await app.service('workloads')).list() // brings back what a killed supervisor left
  return reportProblems(await clients.register(ids, groups), ids, say)
}
