import type { Supervisor } from '../../src/contracts/workload.ts'
import { isFailure } from '../../src/errors.ts'
import type { WorkloadStore } from '../state/index.ts'
import { findUntakenPort, portsOfOthers } from './free-ports.ts'

/** How often a new workload is started on ports that other programs take meanwhile. */
const MOST_TRIES = 5

/**
 * Starts a new workload. A port that was free when it was chosen may be taken by now: then another one is chosen, unless
 * the user has given it.
 */
export async function startNew(
  supervise: Supervisor,
  store: WorkloadStore,
  { name, portIsGiven }: { name: string; portIsGiven: boolean },
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await supervise.start(name)
    } catch (error) {
      if (portIsGiven || tries === MOST_TRIES || !isFailure(error, 'port_busy')) throw error
      const config = await store.configs.get(name)
      const port = await findUntakenPort(await portsOfOthers(store, name), config.host)
      await store.configs.saveOver(config, { ...config, port })
    }
  }
}
