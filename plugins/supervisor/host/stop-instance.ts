import { instanceName, type RunConfig } from '../../../src/contracts/run-config.ts'
import type { Runtime } from '../../../src/contracts/runtime.ts'
import { isFailure, messageOf } from '../../../src/errors.ts'
import { LABEL } from '../../../src/lib/labels.ts'
import type { Log } from '../../../src/log.ts'
import { networkKindOf } from '../../egress/index.ts'
import { mayServeOneClient } from './may-serve-one-client.ts'

interface Runtimes {
  readonly runtimes: { get(name: string): Promise<Runtime> }
  readonly log: Log
}

/** Stops the workload's instance, and removes those of single clients and its network. `known`: its runtime, if that has been found already. */
export async function stopInstance(host: Runtimes, config: RunConfig, known?: Runtime): Promise<void> {
  const runtime = known ?? (await findRuntime(host, config))
  await runtime?.stop(instanceName(config))
  await removeClientInstances(config, runtime)
  await removeNetwork(config, runtime)
}

/** Removes all instances of the workload, and its network. */
export async function removeInstances(host: Runtimes, config: RunConfig, known?: Runtime): Promise<void> {
  const runtime = known ?? (await findRuntime(host, config))
  await removeClientInstances(config, runtime)
  await removeInstance(host, config, runtime)
}

/** Removes the instances and networks of a workload whose run config cannot be read, by their labels, on every runtime. */
export async function removeByLabel(
  { runtimes, log }: { runtimes: readonly Runtime[]; log: Log },
  workload: string,
): Promise<void> {
  for (const runtime of runtimes) {
    // Usually the engine is not installed.
    const unlisted = (error: unknown) =>
      log.debug(`${runtime.name} does not list what it has: ${messageOf(error)}`)
    for (const { name, labels } of (await runtime.list().catch(unlisted)) ?? [])
      if (labels[LABEL.name] === workload) await runtime.remove(name)
    for (const network of (await runtime.isolation?.list().catch(unlisted)) ?? [])
      if (network.workload === workload) await runtime.isolation?.remove(network.instance)
  }
}

/** Removes the one instance that the run config names, and its network. */
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

/** Removes the instances that serve one client each, also those that a killed host has left. */
async function removeClientInstances(config: RunConfig, runtime: Runtime | undefined): Promise<void> {
  if (!runtime || !mayServeOneClient(config)) return
  for (const { name, labels } of await runtime.list()) {
    if (labels[LABEL.client] !== 'true' || labels[LABEL.name] !== config.name) continue
    await runtime.remove(name)
    await removeNetwork({ ...config, container_name: name }, runtime)
  }
}

async function removeNetwork(config: RunConfig, runtime: Runtime | undefined): Promise<void> {
  if (networkKindOf(config) === 'isolated') await runtime?.isolation?.remove(instanceName(config))
}
