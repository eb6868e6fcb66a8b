import type { Proxies } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { HiddenPath, Mount, Runtime } from '../../../src/contracts/runtime.ts'
import type { StatusRecord } from '../../../src/contracts/workload.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { EgressProxy } from '../../egress/index.ts'
import type { WorkloadStore } from '../../state/index.ts'
import type { CrashJournal } from '../crash-journal.ts'
import { failures } from '../failures.ts'
import type { Leases } from '../leases.ts'
import { createAdoption } from './adopt-workloads.ts'
import type { Clock, Times } from './clock.ts'
import { createHostState, type HostedWorkload } from './host-state.ts'
import { createWorkloadUpgrades } from './workload-upgrades.ts'

/** Runs workloads inside this process: what the supervisor does for all, and `run --foreground` for one. */
export interface WorkloadHost {
  /** How many workloads it hosts. */
  readonly size: number
  /** Whether anything is hosted or being done. */
  readonly busy: boolean
  /** What these promise stands at `Supervisor`. */
  start(name: string): Promise<void>
  stop(name: string): Promise<void>
  remove(name: string): Promise<void>
  upgrade(name: string): Promise<void>
  settleUpgrade(name: string): Promise<void>
  /** Takes over every workload that is meant to run, and finishes what a killed host left half-done. */
  adopt(): Promise<void>
  /** Resolves with the last status when this host no longer hosts the workload. */
  ended(name: string): Promise<StatusRecord | undefined>
  /**
   * Ends the host. With `handover` everything that is meant to run keeps that status, and instances
   * that need no streams of ours keep running; otherwise all workloads are stopped.
   */
  close(options: { handover: boolean }): Promise<void>
}

export interface WorkloadHostOptions {
  readonly store: WorkloadStore
  readonly runtimes: {
    get(name: string): Promise<Runtime>
    /** Every runtime there is: their remains are looked for when this host takes over. */
    all?(): Promise<readonly Runtime[]>
  }
  /** The way out of isolated workloads; without it none can be hosted. */
  readonly egress?: EgressProxy
  readonly proxies: Proxies
  readonly leases: Leases
  /** Remembers what was begun, to find the workload that kills its host; left out in the foreground. */
  readonly journal?: CrashJournal
  readonly log: Log
  /** The log of one workload's proxy. */
  readonly logOf: (config: RunConfig) => Log
  /** Variables that are found anew at every start. */
  readonly findEnv?: (config: RunConfig) => Promise<Readonly<Record<string, string>>>
  /** Variables whose values are secret, found anew at every start; they are hidden in what is said of the server. */
  readonly findSecrets?: (config: RunConfig) => Promise<Readonly<Record<string, string>>>
  /** What of the mounted folders an instance must not see. */
  readonly findHidden?: (config: RunConfig, mounts: readonly Mount[]) => Promise<readonly HiddenPath[]>
  /** A status was written, or adoption has ended; the host goes on when this has resolved. Must not fail. */
  readonly onChange?: () => Promise<void>
  readonly clock?: Clock
  readonly times?: Partial<Times>
}

export function createWorkloadHost(options: WorkloadHostOptions): WorkloadHost {
  const state = createHostState(options)
  const {
    store,
    leases,
    journal,
    log,
    times,
    hosted,
    queues,
    inTurn,
    setStatus,
    open,
    stopInstance,
    forget,
  } = state
  const { assertOpen } = state
  const upgrades = createWorkloadUpgrades(state)

  async function startInTurn(name: string): Promise<void> {
    assertOpen()
    const before = hosted.get(name)
    if (before?.lifecycle.isUp()) return
    const config = await store.configs.get(name)
    if (before) {
      before.lifecycle.end('stop')
      await before.proxy.close({ graceMs: 0 })
      await forget(name)
    }
    const lease = await leases.take(name)
    await setStatus(name, 'starting')
    let entry: HostedWorkload | undefined
    try {
      entry = await open(config, lease)
      if (state.isLeaving()) entry.lifecycle.end('handover')
      await entry.lifecycle.begin()
    } catch (error) {
      const endedBy = entry?.lifecycle.endedBy()
      entry?.lifecycle.end('stop')
      await entry?.proxy.close({ graceMs: 0 })
      if (endedBy === 'handover') {
        await forget(name)
        throw failures.supervisor_leaving()
      }
      if (entry) {
        await entry.access?.close()
        await stopInstance(config, entry.runtime, true).catch(problem =>
          log.warn(messageOf(problem), { workload: name }),
        )
      }
      await setStatus(name, 'error', { context: messageOf(error) })
      await (entry ? forget(name) : lease.release())
      throw error
    }
  }

  /** What stop and remove have in common: nobody else hosts it, nothing listens, then `work`. */
  async function takeDown(
    name: string,
    status: 'stopping' | 'removing',
    work: (entry: HostedWorkload | undefined) => Promise<void>,
  ): Promise<void> {
    assertOpen()
    if (!hosted.has(name)) await leases.evict(name)
    const entry = hosted.get(name)
    const lease = entry?.lease ?? (await leases.take(name))
    try {
      await setStatus(name, status)
      entry?.lifecycle.end('stop')
      await entry?.proxy.close({ graceMs: times.grace })
      await entry?.access?.close()
      await work(entry)
    } catch (error) {
      // The status stays, so that the next host finishes what was asked for.
      await setStatus(name, status, { context: messageOf(error) })
      throw error
    } finally {
      await (entry ? forget(name) : lease.release())
    }
  }

  async function removeInTurn(name: string): Promise<void> {
    const config = await store.configs.find(name).catch(error => {
      if (!isFailure(error, 'workload_unreadable')) throw error
      log.warn(messageOf(error), { workload: name })
      return undefined
    })
    if (!config && !(await store.statuses.read(name))) return
    await takeDown(name, 'removing', async entry => {
      if (config) await stopInstance(config, entry?.runtime, true)
      await store.configs.remove(name)
      await store.statuses.remove(name)
    })
  }

  const guard = <T>(name: string, work: () => Promise<T>): Promise<T> =>
    journal ? journal.trackStart(name, work) : work()

  /** Ends at once what brings the workload up, or upgrades it, and then works in its turn. */
  function endNow(name: string, work: () => Promise<void>): Promise<void> {
    hosted.get(name)?.lifecycle.end('stop')
    const over = upgrades.cancel(name)
    return over ? over.then(() => inTurn(name, work)) : inTurn(name, work)
  }

  const host: WorkloadHost = {
    get size() {
      return hosted.size
    },
    get busy() {
      return hosted.size + queues.size + upgrades.size > 0
    },
    start: name => inTurn(name, () => guard(name, () => startInTurn(name))),
    stop: name =>
      endNow(name, async () => {
        const config = hosted.get(name)?.config ?? (await store.configs.get(name))
        await takeDown(name, 'stopping', async entry => {
          await stopInstance(config, entry?.runtime)
          await setStatus(name, 'stopped')
        })
      }),
    remove: name =>
      endNow(name, async () => {
        await upgrades.forget(name)
        await removeInTurn(name)
      }),
    upgrade: name => upgrades.upgrade(name),
    settleUpgrade: name => upgrades.settle(name),
    adopt: createAdoption(state, {
      stop: name => host.stop(name),
      remove: name => host.remove(name),
      settleUpgrades: () => upgrades.settleAll(),
    }),
    ended: name => state.ended(name),
    async close({ handover }) {
      if (!handover) {
        await Promise.allSettled([...hosted.keys()].map(name => host.stop(name)))
      }
      state.leave()
      await upgrades.cancelAll()
      for (const { lifecycle } of hosted.values()) lifecycle.end('handover')
      await queues.idle()
      await Promise.allSettled([...hosted.values()].map(({ proxy }) => proxy.close({ graceMs: times.grace })))
      await Promise.allSettled([...hosted.keys()].map(forget))
    },
  }
  return host
}
