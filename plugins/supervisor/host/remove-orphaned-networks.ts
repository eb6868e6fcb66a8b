import type { Runtime } from '../../../src/contracts/runtime.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'

/** Removes isolated networks that no workload uses: what a killed host, or a failed removal, has left. */
export async function removeOrphanedNetworks(options: {
  runtimes: readonly Runtime[]
  /** Whether the workload runs, or should run, in that instance; called in its turn. */
  isWanted: (workload: string, instance: string) => Promise<boolean>
  inTurn: (workload: string, work: () => Promise<void>) => Promise<void>
  log: Log
}): Promise<void> {
  const { runtimes, isWanted, inTurn, log } = options
  await Promise.all(
    runtimes.map(async ({ name: runtime, isolation }) => {
      // Usually the engine is not installed.
      const left = await isolation?.list().catch(error => {
        log.debug(`${runtime} does not list its networks: ${messageOf(error)}`)
      })
      for (const { instance, workload } of left ?? []) {
        await inTurn(workload, async () => {
          if (!(await isWanted(workload, instance))) await isolation?.remove(instance)
        }).catch(error => log.warn(messageOf(error), { workload }))
      }
    }),
  )
}
