import { type FSWatcher, watch } from 'node:fs'
import { mkdir } from 'node:fs/promises'
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

/** How long to wait for further writes of the same change, in milliseconds. */
const SETTLE_MS = 30
/** How often workloads are compared without a write, as a killed host writes nothing; in milliseconds. */
const LOOK_MS = 5000

export function createStatusFeed(options: {
  /** Folders in which files are written when something changes. */
  folders: readonly string[]
  list: () => Promise<readonly Workload[]>
  log: Log
}): StatusFeed {
  const { folders, list, log } = options
  const listeners = new Set<(event: WorkloadEvent) => void>()
  let known = new Map<string, string>()
  let watchers: FSWatcher[] = []
  let timer: NodeJS.Timeout | undefined
  let pending: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let again = false

  /** Compares once at a time. A change during a comparison is found by the next one. */
  function look(): Promise<void> {
    if (looking) {
      again = true
      return looking
    }
    looking = compare()
      .catch(error => log.warn(`Changes of workloads cannot be reported: ${messageOf(error)}`))
      .finally(() => {
        looking = undefined
        if (again) {
          again = false
          void look()
        }
      })
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

  async function begin(): Promise<void> {
    timer = setInterval(look, LOOK_MS)
    for (const folder of folders) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      try {
        const watcher = watch(folder, () => {
          pending ??= setTimeout(() => {
            pending = undefined
            void look()
          }, SETTLE_MS)
        })
        watcher.on('error', error => log.debug(`${folder} is no longer watched: ${error.message}`))
        watchers.push(watcher)
      } catch (error) {
        log.debug(`${folder} cannot be watched: ${messageOf(error)}`) // the timer still finds the changes
      }
    }
  }

  function end(): void {
    clearInterval(timer)
    clearTimeout(pending)
    for (const watcher of watchers) watcher.close()
    watchers = []
    pending = undefined
    known = new Map()
  }

  return {
    async subscribe(hear) {
      if (listeners.size === 0) await begin()
      await look()
      for (const text of known.values()) hear({ kind: 'workload', workload: JSON.parse(text) as Workload })
      listeners.add(hear)
      return () => {
        if (listeners.delete(hear) && listeners.size === 0) end()
      }
    },
  }
}

const upgradeIn = (text: string): UpgradeOutcome | undefined => (JSON.parse(text) as Workload).last_upgrade
