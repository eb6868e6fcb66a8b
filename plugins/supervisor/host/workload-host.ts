import type { Proxies } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { HiddenPath, Mount, Runtime } from '../../../src/contracts/runtime.ts'
import type { StatusRecord } from '../../../src/contracts/workload.ts'
import type { Log } from '../../../src/log.ts'
import type { EgressProxy } from '../../egress/index.ts'
import type { WorkloadStore } from '../../state/index.ts'
import type { CrashJournal } from '../crash-journal.ts'
import type { Leases } from '../leases.ts'
import { adoptWorkloads } from './adopt-workloads.ts'
import type { Clock } from './clock.ts'
import { createHostState } from './host-state.ts'
import type { Times } from './times.ts'
import { removeWorkload, startWorkload, stopWorkload, takeDownToRestart } from './workload-operations.ts'
import { createWorkloadUpgrades } from './workload-upgrades.ts'

/** Hosts workloads in this process: the supervisor hosts all, `run --foreground` one. */
export interface WorkloadHost {
  /** How many workloads it hosts. */
  readonly size: number
  /** Whether a workload is hosted, or an operation runs. */
  readonly busy: boolean
  /** The operations are documented at `Supervisor`. */
  start(name: string): Promise<void>
  stop(name: string): Promise<void>
  restart(name: string): Promise<void>
  remove(name: string): Promise<void>
  upgrade(name: string): Promise<void>
  settleUpgrade(name: string): Promise<void>
  /** Takes over every workload that should run, and finishes operations that a killed process left. */
  adopt(): Promise<void>
  /** Resolves with the last status when the workload is no longer hosted here. */
  ended(name: string): Promise<StatusRecord | undefined>
  /**
   * Ends the host. With `handover` workloads keep their status, and instances that need no streams of this
   * process keep running; otherwise all workloads are stopped.
   */
  close(options: { handover: boolean; goesOn?: boolean }): Promise<void>
}

export interface WorkloadHostOptions {
  readonly store: WorkloadStore
  readonly runtimes: {
    get(name: string): Promise<Runtime>
    /** Every runtime: orphaned networks are removed from them all when this host takes over. */
    all?(): Promise<readonly Runtime[]>
  }
  /** Outgoing access of isolated workloads; without it none of these can be hosted. */
  readonly egress?: EgressProxy
  readonly proxies: Proxies
  readonly leases: Leases
  /** Finds the workload that crashes its host; left out in the foreground. */
  readonly journal?: CrashJournal
  readonly log: Log
  /** Fails when the run config is not valid, or asks for a feature that is not there. */
  readonly checkConfig?: (config: RunConfig) => Promise<void>
  /** Identifies what a server is started with; without it a server that runs is taken over whatever is stored now. */
  readonly digest?: (config: RunConfig) => Promise<string>
  /** The log of one workload's proxy. */
  readonly logOf: (config: RunConfig) => Log
  /** Variables that are read at every start. */
  readonly findEnv?: (config: RunConfig) => Promise<Readonly<Record<string, string>>>
  /** Variables with secret values, read at every start; the values are redacted in messages about the server. */
  readonly findSecrets?: (config: RunConfig) => Promise<Readonly<Record<string, string>>>
  /** Paths in mounted folders that an instance must not see. */
  readonly findHidden?: (config: RunConfig, mounts: readonly Mount[]) => Promise<readonly HiddenPath[]>
  /** Called when a status was written, or adoption has ended; the host waits for it. Must not fail. */
  readonly onChange?: () => Promise<void>
  /** Called when a workload was removed. Must not fail. */
  readonly onRemoved?: (config: RunConfig) => Promise<void>
  readonly clock?: Clock
  readonly times?: Partial<Times>
}

export function createWorkloadHost(options: WorkloadHostOptions): WorkloadHost {
  const state = createHostState(options)
  const { journal, times, hosted, queues, inTurn } = state
  const upgrades = createWorkloadUpgrades(state)

  /** Cancels a start or an upgrade at once, then does the work in its turn. */
  function cancelThen(name: string, work: () => Promise<void>): Promise<void> {
    hosted.get(name)?.lifecycle.end('stop')
    const over = upgrades.cancel(name)
    return over ? over.then(() => inTurn(name, work)) : inTurn(name, work)
  }

  const stop = (name: string) => cancelThen(name, () => stopWorkload(state, name))
  const remove = (name: string) =>
    cancelThen(name, async () => {
      await upgrades.forget(name)
      await removeWorkload(state, name)
    })

  const start = (name: string) => {
    const work = () => startWorkload(state, name)
    return inTurn(name, () => (journal ? journal.trackStart(name, work) : work()))
  }

  return {
    get size() {
      return hosted.size
    },
    get busy() {
      return hosted.size + queues.size + upgrades.size > 0
    },
    start,
    stop,
    async restart(name) {
      await state.store.configs.settled(name)
      await cancelThen(name, () => takeDownToRestart(state, name))
      await start(name)
    },
    remove,
    upgrade: name => upgrades.upgrade(name),
    settleUpgrade: name => upgrades.settle(name),
    adopt: () => adoptWorkloads(state, { stop, remove, settleUpgrades: () => upgrades.settleAll() }),
    ended: name => state.ended(name),
    async close({ handover, goesOn = false }) {
      if (!handover) await Promise.allSettled([...hosted.keys()].map(stop))
      state.leave()
      await upgrades.cancelAll()
      for (const { lifecycle } of hosted.values()) lifecycle.end('handover')
      await queues.idle()
      await Promise.allSettled([...hosted.values()].map(({ proxy }) => proxy.close({ graceMs: times.grace })))
      const names = [...hosted.keys()]
      await Promise.allSettled(names.map(name => state.forget(name)))
      // The statuses would name a process that runs, so nobody would start the next supervisor.
      if (goesOn) await Promise.allSettled(names.map(name => state.store.statuses.disown(name)))
    },
  }
}
