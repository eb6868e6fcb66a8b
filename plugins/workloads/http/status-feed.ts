import { type FSWatcher, watch } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { UpgradeOutcome, Workload } from '../../../src/contracts/workload.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'

/** A workload is there now or has changed, is gone, or a newer version was put in its place, or was not fit for it. */
export type WorkloadEvent =
  | { readonly kind: 'workload'; readonly workload: Workload }
  | {
      readonly kind: 'workload-upgraded' | 'workload-rolled-back'
      readonly name: string
      readonly upgrade: UpgradeOutcome
    }
  | { readonly kind: 'workload-removed'; readonly name: string }

/** Tells what happens to workloads, whoever does it; watches only while somebody listens. */
export interface StatusFeed {
  /** Hears first of all workloads there are, then of every change. Answers how it stops. */
  subscribe(hear: (event: WorkloadEvent) => void): Promise<() => void>
}

/** Several files are written for one change. */
const SETTLE_MS = 30
/** A host that was killed writes nothing: only looking tells. */
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

  /** One look at a time; what changes during one is seen by the next. */
  function look(): Promise<void> {
    if (looking) {
      again = true
      return looking
    }
    looking = compare()
      .catch(error => log.warn(`Changes of workloads cannot be told: ${messageOf(error)}`))
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
        log.debug(`${folder} cannot be watched: ${messageOf(error)}`) // changes are seen later, not never
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
