import { isDeepStrictEqual } from 'node:util'
import type { App } from '../../../src/app.ts'
import { instanceName, type RunConfig, toInstanceName } from '../../../src/contracts/run-config.ts'
import { assertWorkloadName, stateFailures, type WorkloadStore } from '../../state/index.ts'
import { failures } from '../failures.ts'

/** The run config with what is kept for the workload alone, such as the token of a remote server, in clear. */
export async function revealKept(app: App, kept: RunConfig): Promise<RunConfig> {
  let config = kept
  for (const make of await app.contributions('preparations')) {
    config = (await make(app).reveal?.(config)) ?? config
  }
  return config
}

/**
 * The run config under another name, not saved, with all in clear as in `revealKept`. Fails with `workload_exists`,
 * `rename_unfinished` and `instance_name_taken`.
 */
export async function copyConfig(
  app: App,
  store: WorkloadStore,
  { from, to: name }: { from: string; to: string },
): Promise<RunConfig> {
  assertWorkloadName(name)
  const kept = await store.configs.get(from)
  const container_name = toInstanceName(name)
  const toCopy = async () => ({ ...(await revealKept(app, kept)), name, base_name: name, container_name })
  const there = await store.configs.find(name)
  if (there) {
    // Two workloads of one port that differ in nothing else come from a rename alone.
    const isCopy = kept.port === there.port && isDeepStrictEqual(await toCopy(), await revealKept(app, there))
    throw isCopy ? failures.rename_unfinished({ from, to: name }) : stateFailures.workload_exists({ name })
  }
  const owner = (await store.configs.list()).find(other => instanceName(other) === container_name)
  if (owner) throw failures.instance_name_taken({ name: container_name, owner: owner.name })
  return toCopy()
}

/** The same with its own ports: new host ports are chosen for those that the original publishes. */
export async function cloneConfig(
  app: App,
  store: WorkloadStore,
  names: { from: string; to: string },
): Promise<RunConfig> {
  const { target_port, publish, ...copy } = await copyConfig(app, store, names)
  const runtime = copy.runtime ? await (await app.service('runtimes')).get(copy.runtime) : undefined
  const isShared = !runtime?.images || copy.permission_profile?.network?.mode === 'host'
  return {
    ...copy,
    port: 0,
    ...(target_port === undefined || isShared ? {} : { target_port }),
    ...(publish ? { publish: publish.map(text => text.replace(/^.*:/, '')) } : {}),
  }
}
