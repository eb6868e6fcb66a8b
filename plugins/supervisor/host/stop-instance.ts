import { instanceName, type RunConfig } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import { networkKindOf } from '../../egress/index.ts'

interface Runtimes {
  readonly runtimes: { get(name: string): Promise<Runtime> }
  readonly log: Log
}

/** Stops the workload's instance and removes its network. `known`: its runtime, if that has been found already. */
export async function stopInstance(host: Runtimes, config: RunConfig, known?: Runtime): Promise<void> {
  const runtime = known ?? (await findRuntime(host, config))
  await runtime?.stop(instanceName(config))
  await removeNetwork(config, runtime)
}

/** Removes the workload's instance and its network. */
export async function removeInstance(host: Runtimes, config: RunConfig, known?: Runtime): Promise<void> {
  const runtime = known ?? (await findRuntime(host, config))
  await runtime?.remove(instanceName(config))
  await removeNetwork(config, runtime)
}

/** Undefined for a remote workload, and for a runtime that no longer exists and so can have no instance. */
async function findRuntime({ runtimes, log }: Runtimes, config: RunConfig): Promise<Runtime | undefined> {
  if (config.remote_url) return undefined
  try {
    return await runtimes.get(config.runtime ?? '')
  } catch (error) {
    if (!isFailure(error)) throw error
    log.warn(messageOf(error), { workload: config.name })
    return undefined
  }
}

async function removeNetwork(config: RunConfig, runtime: Runtime | undefined): Promise<void> {
  if (networkKindOf(config) === 'isolated') await runtime?.isolation?.remove(instanceName(config))
}
