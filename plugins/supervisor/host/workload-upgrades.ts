import { isFailure } from '../../../src/errors.ts'
import { failures } from '../failures.ts'
import type { HostState } from './host-state.ts'
import { replaceServer, tryWhileStopped } from './replace-server.ts'
import { createUpgradeLeftovers } from './upgrade-leftovers.ts'
import { noteRollback } from './upgrade-outcome.ts'

/** Replaces running servers with newer versions. */
export interface WorkloadUpgrades {
  /** How many upgrades run. */
  readonly size: number
  /** `upgrade` and `settle` are documented at `Supervisor` (`upgrade`, `settleUpgrade`). */
  upgrade(name: string): Promise<void>
  settle(name: string): Promise<void>
  /** Removes what a killed process has left of the upgrades of all workloads. Never fails. */
  settleAll(): Promise<void>
  /**
   * Cancels an upgrade whose candidate is not promoted yet, and shortens the wait for the old server after
   * that. Undefined when no upgrade runs.
   */
  cancel(name: string): Promise<void> | undefined
  /** Cancels all upgrades, and ends the attempts to remove leftovers. */
  cancelAll(): Promise<void>
  /** Removes the second instance of a workload that is about to be removed. Never fails. */
  forget(name: string): Promise<void>
}

interface RunningUpgrade {
  readonly stop: AbortController
  readonly over: Promise<void>
}

/**
 * The steps of an upgrade, and who undoes them. The record is on disk before the first step: after a kill
 * the next supervisor removes whichever of the two instances the run config does not name.
 *
 * 1. The candidate starts beside the old server and is checked. A failure removes the candidate.
 * 2. The new run config is saved. From here on the candidate is the instance to keep.
 * 3. The proxy routes requests to it; the old server finishes its requests, then it is removed with the record.
 */
export function createWorkloadUpgrades(state: HostState): WorkloadUpgrades {
  const { store, hosted, inTurn } = state
  const running = new Map<string, RunningUpgrade>()
  const leftovers = createUpgradeLeftovers(state, { isUpgrading: name => running.has(name) })

  async function run(name: string, signal: AbortSignal): Promise<void> {
    const record = await store.upgrades.find(name)
    if (!record) throw failures.upgrade_lost({ name })
    const step = { record, signal, leftovers }
    try {
      await state.checkConfig(record.to)
      if (hosted.has(name)) await replaceServer(state, step)
      else await inTurn(name, () => tryWhileStopped(state, step))
    } catch (error) {
      await leftovers.clear(name)
      if (!isFailure(error, 'hosted_elsewhere')) await noteRollback(state, record, error)
      throw error
    }
  }

  function cancel(name: string): Promise<void> | undefined {
    const upgrade = running.get(name)
    upgrade?.stop.abort()
    return upgrade?.over
  }

  return {
    get size() {
      return running.size
    },
    async upgrade(name) {
      state.assertNotLeaving()
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
        // `start_cancelled` would name the candidate's start, which the caller did not ask for.
        throw isFailure(error, 'start_cancelled') ? failures.upgrade_lost({ name }) : error
      } finally {
        running.delete(name)
      }
    },
    async settle(name) {
      await running.get(name)?.over
      await inTurn(name, () => leftovers.remove(name))
    },
    async settleAll() {
      for (const name of await store.upgrades.names()) {
        if (!running.has(name)) await inTurn(name, () => leftovers.clear(name))
      }
    },
    cancel,
    async cancelAll() {
      leftovers.close()
      await Promise.all([...running.keys()].map(cancel))
    },
    forget: name => leftovers.clear(name),
  }
}
