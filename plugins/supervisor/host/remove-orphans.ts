import type { Runtime } from '../../../src/contracts/runtime.ts'
import { messageOf } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import type { Log } from '../../../src/log.ts'

/**
 * Removes instances of single clients and isolated networks that no workload uses: what a killed host, or a failed
 * removal, has left.
 */
export async function removeOrphans(options: {
  runtimes: readonly Runtime[]
  /** Whether the workload runs, or should run, in that instance; called in its turn. */
  isWanted: (workload: string, instance: string) => Promise<boolean>
  inTurn: (workload: string, work: () => Promise<void>) => Promise<void>
  log: Log
}): Promise<void> {
  const { runtimes, isWanted, inTurn, log } = options

  const removeUnwanted = (workload: string, instance: string, remove: () => Promise<void>) =>
    inTurn(workload, async () => {
      if (!(await isWanted(workload, instance))) await remove()
    }).catch(error => log.warn(messageOf(error), { workload }))

  await Promise.all(
    runtimes.map(async runtime => {
      const { isolation } = runtime
      // Usually the engine is not installed.
      const unlisted = (error: unknown) =>
        log.debug(`${runtime.name} does not list what it has: ${messageOf(error)}`)
      for (const { name, labels } of (await runtime.list().catch(unlisted)) ?? []) {
        const workload = labels[LABEL.name]
        if (labels[LABEL.client] !== 'true' || workload === undefined) continue
        await removeUnwanted(workload, name, () => runtime.remove(name))
      }
      for (const { instance, workload } of (await isolation?.list().catch(unlisted)) ?? []) {
        await removeUnwanted(workload, instance, async () => isolation?.remove(instance))
      }
    }),
  )
}
