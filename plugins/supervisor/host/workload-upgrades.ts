import { instanceName, type RunConfig } from '../../../src/contracts/run-config.ts'
import { assertEnforced } from '../../../src/contracts/unenforced.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { UpgradeRecord } from '../../state/index.ts'
import { failures } from '../failures.ts'
import type { HostState, SupervisedServer } from './host-state.ts'

/** Puts new servers in the place of those that serve. */
export interface WorkloadUpgrades {
  /** Upgrades under way. */
  readonly size: number
  /** What this and the next promise stands at `Supervisor`. */
  upgrade(name: string): Promise<void>
  settle(name: string): Promise<void>
  /** Settles what a killed host has left of all workloads. Never fails. */
  settleAll(): Promise<void>
  /** Breaks off what has not been put in place, and hurries what has; undefined when there is nothing. */
  cancel(name: string): Promise<void> | undefined
  cancelAll(): Promise<void>
  /** Removes what is there beside the workload's own instance, which is about to be removed too. Never fails. */
  forget(name: string): Promise<void>
}

interface RunningUpgrade {
  readonly stop: AbortController
  readonly over: Promise<void>
}

/** How often what could not be removed is tried again. */
const RETRY_MS = 30_000

/** What the workload's package is called in what people read. */
const packageOf = ({ source, image = '' }: RunConfig): string => source ?? image

/**
 * The steps of an upgrade, and who undoes them. The record is on disk before the first: a host that comes
 * after a kill removes whichever of the two instances the run config does not name.
 *
 * 1. The new instance is made and auditioned beside the old one. A failure removes it.
 * 2. The new run config is saved. From here on the new instance is the one to keep.
 * 3. The proxy turns to it; what the old one was asked is finished, then it is removed, and the record with it.
 */
export function createWorkloadUpgrades(state: HostState): WorkloadUpgrades {
  const { store, proxies, leases, log, logOf, clock, times, hosted, inTurn, setStatus, stopInstance, give } =
    state
  const running = new Map<string, RunningUpgrade>()
  const closing = new AbortController()
  const leftovers = new Set<string>()

  const lost = (name: string) => failures.upgrade_lost({ name })
  const logFailure = (name: string, what: Promise<void>) =>
    what.catch(error => log.warn(messageOf(error), { workload: name }))

  async function run(name: string, signal: AbortSignal): Promise<void> {
    const record = await store.upgrades.find(name)
    if (!record) throw lost(name)
    try {
      assertEnforced(record.to)
      const entry = hosted.get(name)
      if (entry) await besides(name, record, signal)
      else await inTurn(name, () => whileDown(name, record, signal))
    } catch (error) {
      await logFailure(name, clearUp(name))
      if (!isFailure(error, 'hosted_elsewhere')) await note(name, record, error)
      throw error
    }
  }

  /**
   * Asks a new server for what it must be able to do, then calls `take` with it. When anything fails it is
   * let go of, and its instance is still there.
   */
  async function tryOut(
    { wait_ms }: UpgradeRecord,
    next: SupervisedServer,
    signal: AbortSignal,
    take: (candidate: Awaited<ReturnType<SupervisedServer['lifecycle']['startCandidate']>>) => Promise<void>,
  ): Promise<void> {
    const stop = () => next.lifecycle.end('stop')
    signal.addEventListener('abort', stop)
    try {
      if (signal.aborted) stop()
      await take(await next.lifecycle.startCandidate(wait_ms))
    } catch (error) {
      stop()
      await next.access?.close()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  async function besides(name: string, record: UpgradeRecord, signal: AbortSignal): Promise<void> {
    const { from, to } = record
    const entry = hosted.get(name)
    if (!entry) throw lost(name)
    const next = await give(to, entry.proxy, entry.log)
    let drained: Promise<void> | undefined
    let retired: SupervisedServer | undefined
    await tryOut(record, next, signal, candidate =>
      inTurn(name, async () => {
        const old = hosted.get(name)
        if (signal.aborted || old?.proxy !== entry.proxy) throw lost(name)
        await candidate.assertUp()
        await store.configs.saveOver(from, to)
        old.lifecycle.retire()
        hosted.set(name, { ...old, ...next, runtime: old.runtime })
        drained = candidate
          .take({ graceMs: times.drain, signal })
          .drained.finally(() => old.lifecycle.end('stop'))
        await logFailure(name, tell(name, 'running', record))
        retired = old
      }),
    )
    // It has taken place, whatever goes wrong from here on.
    await logFailure(name, Promise.resolve(drained))
    await logFailure(name, Promise.resolve(retired?.access?.close()))
    await discard(name, () => stopInstance(from, entry.runtime, true))
  }

  /** A workload that does not run is tried out too, and stays down. */
  async function whileDown(name: string, record: UpgradeRecord, signal: AbortSignal): Promise<void> {
    const { from, to } = record
    const lease = await leases.take(name)
    try {
      const workloadLog = logOf(to)
      const proxy = await proxies.open({ ...to, host: '127.0.0.1', port: 0 }, { log: workloadLog })
      try {
        const next = await give(to, proxy, workloadLog)
        await tryOut(record, next, signal, () => store.configs.saveOver(from, to))
        next.lifecycle.end('stop')
        await next.access?.close()
        await discard(name, async () => {
          await stopInstance(to, next.runtime, true)
          await stopInstance(from, next.runtime, true)
        })
        await logFailure(name, tell(name, 'stopped', record))
      } finally {
        await proxy.close({ graceMs: 0 })
      }
    } finally {
      await lease.release()
    }
  }

  /** Removes what is not needed any more, and the record when that has succeeded; else again and again. */
  async function discard(name: string, remove: () => Promise<void>): Promise<void> {
    try {
      await remove()
      await store.upgrades.remove(name)
      leftovers.delete(name)
    } catch (error) {
      const isNews = !leftovers.has(name)
      leftovers.add(name)
      if (isNews)
        log.warn(`What is left of an upgrade is removed later: ${messageOf(error)}`, { workload: name })
      if (isNews) void retryLeftovers(name)
    }
  }

  /** The engine may be away. Whatever is left when this host ends is for the next one. */
  async function retryLeftovers(name: string): Promise<void> {
    while (leftovers.has(name)) {
      await clock.delay(RETRY_MS, closing.signal).catch(() => undefined)
      if (closing.signal.aborted) return
      if (!running.has(name))
        await logFailure(
          name,
          inTurn(name, () => clearUp(name)),
        )
    }
  }

  async function tell(name: string, status: 'running' | 'stopped', record: UpgradeRecord): Promise<void> {
    await setStatus(name, status, status === 'running' ? { startedAt: new Date() } : {})
    await store.statuses.noteUpgrade(name, toOutcome(record))
  }

  const toOutcome = ({ from, to }: UpgradeRecord) =>
    ({ outcome: 'upgraded', from: packageOf(from), to: packageOf(to) }) as const

  async function note(name: string, record: UpgradeRecord, error: unknown): Promise<void> {
    log.warn(`The upgrade to ${packageOf(record.to)} was rolled back: ${messageOf(error)}`, {
      workload: name,
    })
    const outcome = { ...toOutcome(record), outcome: 'rolled-back', reason: messageOf(error) } as const
    await inTurn(name, () => store.statuses.noteUpgrade(name, outcome)).catch(problem =>
      log.error(messageOf(problem), { workload: name }),
    )
  }

  /** Removes the instances of the record that the workload's run config does not name. */
  async function clearUp(name: string): Promise<void> {
    const record = await store.upgrades.find(name)
    if (!record) return void leftovers.delete(name)
    const kept = await store.configs.find(name)
    await discard(name, async () => {
      for (const config of [record.from, record.to]) {
        if (!kept || instanceName(config) !== instanceName(kept)) await stopInstance(config, undefined, true)
      }
    })
  }

  const upgrades: WorkloadUpgrades = {
    get size() {
      return running.size
    },
    async upgrade(name) {
      state.assertOpen()
      if (running.has(name)) throw failures.upgrade_runs({ name })
      const stop = new AbortController()
      const work = run(name, stop.signal)
      const over = work.then(
        () => undefined,
        () => undefined,
      )
      running.set(name, { stop, over })
      try {
        await work
      } catch (error) {
        // A failure of its own would only say that it was taken down.
        throw isFailure(error, 'start_cancelled') ? lost(name) : error
      } finally {
        running.delete(name)
      }
    },
    async settle(name) {
      await running.get(name)?.over
      await inTurn(name, () => clearUp(name))
    },
    async settleAll() {
      for (const name of await store.upgrades.names()) {
        if (!running.has(name))
          await logFailure(
            name,
            inTurn(name, () => clearUp(name)),
          )
      }
    },
    cancel(name) {
      const upgrade = running.get(name)
      upgrade?.stop.abort()
      return upgrade?.over
    },
    async cancelAll() {
      closing.abort()
      await Promise.all([...running.keys()].map(name => upgrades.cancel(name)))
    },
    forget: name => logFailure(name, clearUp(name)),
  }
  return upgrades
}
