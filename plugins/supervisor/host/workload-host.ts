import type { Proxies } from '../../../src/contracts/pipeline.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { HiddenPath, Mount, Runtime } from '../../../src/contracts/runtime.ts'
import type { StatusRecord } from '../../../src/contracts/workload.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { EgressProxy } from '../../egress/index.ts'
import type { WorkloadStore } from '../../state/index.ts'
import type { Journal } from '../crash-journal.ts'
import { failures } from '../failures.ts'
import type { Leases } from '../leases.ts'
import { createAdoption } from './adopt-workloads.ts'
import type { Clock, Times } from './clock.ts'
import { createGround, type Hosted } from './host-state.ts'
import { createUpgrading } from './workload-upgrades.ts'

/** Runs workloads inside this process: what the supervisor does for all, and `run --foreground` for one. */
export interface Host {
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

export interface HostOptions {
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
  readonly journal?: Journal
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

export function createHost(options: HostOptions): Host {
  const ground = createGround(options)
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
  } = ground
  const { assertOpen } = ground
  const upgrading = createUpgrading(ground)

  async function startInTurn(name: string): Promise<void> {
    assertOpen()
    const before = hosted.get(name)
    if (before?.life.isUp()) return
    const config = await store.configs.get(name)
    if (before) {
      before.life.end('stop')
      await before.proxy.close({ graceMs: 0 })
      await forget(name)
    }
    const lease = await leases.take(name)
    await setStatus(name, 'starting')
    let entry: Hosted | undefined
    try {
      entry = await open(config, lease)
      if (ground.isLeaving()) entry.life.end('handover')
      await entry.life.begin()
    } catch (error) {
      const endedBy = entry?.life.endedBy()
      entry?.life.end('stop')
      await entry?.proxy.close({ graceMs: 0 })
      if (endedBy === 'handover') {
        await forget(name)
        throw failures.supervisor_leaving()
      }
      if (entry) {
        await entry.enclosed?.close()
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
    work: (entry: Hosted | undefined) => Promise<void>,
  ): Promise<void> {
    assertOpen()
    if (!hosted.has(name)) await leases.evict(name)
    const entry = hosted.get(name)
    const lease = entry?.lease ?? (await leases.take(name))
    try {
      await setStatus(name, status)
      entry?.life.end('stop')
      await entry?.proxy.close({ graceMs: times.grace })
      await entry?.enclosed?.close()
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
    journal ? journal.guard(name, work) : work()

  /** Ends at once what brings the workload up, or upgrades it, and then works in its turn. */
  function lastWord(name: string, work: () => Promise<void>): Promise<void> {
    hosted.get(name)?.life.end('stop')
    const over = upgrading.cancel(name)
    return over ? over.then(() => inTurn(name, work)) : inTurn(name, work)
  }

  const host: Host = {
    get size() {
      return hosted.size
    },
    get busy() {
      return hosted.size + queues.size + upgrading.size > 0
    },
    start: name => inTurn(name, () => guard(name, () => startInTurn(name))),
    stop: name =>
      lastWord(name, async () => {
        const config = hosted.get(name)?.config ?? (await store.configs.get(name))
        await takeDown(name, 'stopping', async entry => {
          await stopInstance(config, entry?.runtime)
          await setStatus(name, 'stopped')
        })
      }),
    remove: name =>
      lastWord(name, async () => {
        await upgrading.forget(name)
        await removeInTurn(name)
      }),
    upgrade: name => upgrading.upgrade(name),
    settleUpgrade: name => upgrading.settle(name),
    adopt: createAdoption(ground, {
      stop: name => host.stop(name),
      remove: name => host.remove(name),
      settleUpgrades: () => upgrading.settleAll(),
    }),
    ended: name => ground.ended(name),
    async close({ handover }) {
      if (!handover) {
        await Promise.allSettled([...hosted.keys()].map(name => host.stop(name)))
      }
      ground.leave()
      await upgrading.cancelAll()
      for (const { life } of hosted.values()) life.end('handover')
      await queues.idle()
      await Promise.allSettled([...hosted.values()].map(({ proxy }) => proxy.close({ graceMs: times.grace })))
      await Promise.allSettled([...hosted.keys()].map(forget))
    },
  }
  return host
}
