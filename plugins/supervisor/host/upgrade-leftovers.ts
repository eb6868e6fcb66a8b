import { instanceName } from '../../../src/contracts/run-config.ts'
import { messageOf } from '../../../src/errors.ts'
import type { HostState } from './host-state.ts'
import { removeInstance } from './stop-instance.ts'

/** How often the removal of leftovers is tried again, in milliseconds. */
const RETRY_MS = 30_000

/** Removes instances that an upgrade no longer needs. */
export interface UpgradeLeftovers {
  /** Removes the instances of the upgrade record that the workload's run config does not name. */
  remove(name: string): Promise<void>
  /** As `remove`; logs a failure instead of throwing it. */
  clear(name: string): Promise<void>
  /** Does the work and deletes the upgrade record. If the work fails, `remove` is tried again and again. */
  discard(name: string, work: () => Promise<void>): Promise<void>
  /** Ends the attempts; the rest is left to the next supervisor. */
  close(): void
}

export function createUpgradeLeftovers(
  state: HostState,
  { isUpgrading }: { isUpgrading: (name: string) => boolean },
): UpgradeLeftovers {
  const { store, log, clock, inTurn } = state
  const closing = new AbortController()
  const left = new Set<string>()

  async function discard(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
      await store.upgrades.remove(name)
      left.delete(name)
    } catch (error) {
      if (left.has(name)) return
      left.add(name)
      log.warn(`What is left of an upgrade is removed later: ${messageOf(error)}`, { workload: name })
      void retry(name)
    }
  }

  /** The engine may be away for a while. */
  async function retry(name: string): Promise<void> {
    while (left.has(name)) {
      await clock.delay(RETRY_MS, closing.signal).catch(() => undefined)
      if (closing.signal.aborted) return
      if (!isUpgrading(name)) await inTurn(name, () => clear(name))
    }
  }

  async function remove(name: string): Promise<void> {
    const record = await store.upgrades.find(name)
    if (!record) return void left.delete(name)
    const kept = await store.configs.find(name)
    await discard(name, async () => {
      for (const config of [record.from, record.to]) {
        if (!kept || instanceName(config) !== instanceName(kept)) await removeInstance(state, config)
      }
    })
  }

  const clear = (name: string) => remove(name).catch(error => log.warn(messageOf(error), { workload: name }))

  return { remove, clear, discard, close: () => closing.abort() }
}
