import type { App } from '../../src/app.ts'
import type { Workload } from '../../src/contracts/workload.ts'
import { failures } from '../../src/errors.ts'

/** Which workloads a command means: names, all, or a group; exactly one of the three. */
export interface Choice {
  readonly names: readonly string[]
  readonly all: boolean
  readonly group: string | undefined
}

/**
 * The chosen workloads' names. Names are taken as they are; `among` narrows what `--all` and `--group`
 * mean. Fails with `group_unknown`.
 */
export async function chooseNames(
  app: App,
  { names, all, group }: Choice,
  among: (workload: Workload) => boolean = () => true,
): Promise<readonly string[]> {
  const ways = [names.length > 0, all, group !== undefined].filter(Boolean).length
  if (ways !== 1) {
    throw failures.usage({
      text: ways === 0 ? 'Which workloads?' : 'Names, --all and --group exclude each other.',
      hint: 'Give names, or --all, or --group.',
    })
  }
  if (names.length) return [...new Set(names)]
  if (group !== undefined) await (await app.service('groups')).assertExists(group)
  const workloads = await app.service('workloads')
  return (await workloads.list({ all: true, group })).filter(among).map(workload => workload.name)
}
