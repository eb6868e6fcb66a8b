import type { UpgradeOutcome, Workload } from '../../../src/contracts/workload.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'

/** A change of a workload: it is new or changed, was upgraded or rolled back, or was removed. */
export type WorkloadEvent =
  | { readonly kind: 'workload'; readonly workload: Workload }
  | {
      readonly kind: 'workload-upgraded' | 'workload-rolled-back'
      readonly name: string
      readonly upgrade: UpgradeOutcome
    }
  | { readonly kind: 'workload-removed'; readonly name: string }

/** Reports changes of workloads by any process. Watches only while there are subscribers. */
export interface StatusFeed {
  /** Calls `hear` for every workload, then for every change. Returns the function that ends the subscription. */
  subscribe(hear: (event: WorkloadEvent) => void): Promise<() => void>
}

export function createStatusFeed(options: {
  /** Calls `look` when something may have changed. Returns the function that ends that. */
  watch: (look: () => Promise<void>) => () => void
  list: () => Promise<readonly Workload[]>
  log: Log
}): StatusFeed {
  const { watch, list, log } = options
  const listeners = new Set<(event: WorkloadEvent) => void>()
  let known = new Map<string, string>()
  let subscribers = 0
  let stopWatching: (() => void) | undefined
  let looking = Promise.resolve()

  /** Compares once at a time. */
  function look(): Promise<void> {
    looking = looking
      .then(compare)
      .catch(error => log.warn(`Changes of workloads cannot be reported: ${messageOf(error)}`))
    return looking
  }

  async function compare(): Promise<void> {
    const workloads = await list()
    const next = new Map(workloads.map(workload => [workload.name, JSON.stringify(workload)]))
    for (const workload of workloads) {
      const { name, last_upgrade: upgrade } = workload
      const before = known.get(name)
      if (before === next.get(name)) continue
      tell({ kind: 'workload', workload })
      if (before === undefined || !upgrade || upgradeIn(before)?.at === upgrade.at) continue
      const kind = upgrade.outcome === 'upgraded' ? 'workload-upgraded' : 'workload-rolled-back'
      tell({ kind, name, upgrade })
    }
    for (const name of known.keys()) if (!next.has(name)) tell({ kind: 'workload-removed', name })
    known = next
  }

  const tell = (event: WorkloadEvent) => {
    for (const hear of listeners) hear(event)
  }

  function leave(hear: (event: WorkloadEvent) => void): void {
    if (!listeners.delete(hear)) return
    subscribers -= 1
    if (subscribers > 0) return
    stopWatching?.()
    stopWatching = undefined
    known = new Map()
  }

  return {
    async subscribe(hear) {
      subscribers += 1
      stopWatching ??= watch(look)
      await look()
      for (const text of known.values()) hear({ kind: 'workload', workload: JSON.parse(text) as Workload })
      listeners.add(hear)
      return () => leave(hear)
    },
  }
}

const upgradeIn = (text: string): UpgradeOutcome | undefined => (JSON.parse(text) as Workload).last_upgrade
