import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { Runtime, Usage } from '../../src/contracts/runtime.ts'
import { messageOf } from '../../src/errors.ts'
import { LABEL } from '../../src/lib/labels.ts'
import { parseMemory } from '../../src/lib/resources.ts'
import type { Log } from '../../src/log.ts'

/** What the servers of a workload use now. For a remote server, only the name is known. */
export interface WorkloadUsage {
  readonly name: string
  readonly runtime?: string
  /** 100 is one core. */
  readonly cpu_percent?: number
  readonly memory_bytes?: number
  /** The limit that the user has set. */
  readonly memory_limit_bytes?: number
  /** How many containers or processes serve its clients. */
  readonly instances?: number
}

/** Measures the workloads of these run configs. Logs a warning for a runtime that does not respond. */
export async function measureWorkloads(
  configs: readonly RunConfig[],
  { get, log }: { get: (runtime: string) => Promise<Runtime>; log: Log },
): Promise<WorkloadUsage[]> {
  const runtimes = [...new Set(configs.flatMap(({ runtime }) => runtime ?? []))]
  const measured = await Promise.all(
    runtimes.map(async name => {
      try {
        return [name, await measure(await get(name))] as const
      } catch (error) {
        log.warn(messageOf(error))
        return [name, new Map<string, Usage[]>()] as const
      }
    }),
  )
  const byRuntime = new Map(measured)
  return configs.map(config => toRow(config, byRuntime.get(config.runtime ?? '')?.get(config.name)))
}

/** The usage of each running instance, by workload. */
async function measure(runtime: Runtime): Promise<Map<string, Usage[]>> {
  const running = (await runtime.list()).filter(({ state }) => state === 'running')
  const usage = await runtime.usage?.(running.map(({ name }) => name))
  const found = new Map<string, Usage[]>()
  for (const { name, labels } of running) {
    const used = usage?.get(name)
    const workload = labels[LABEL.name] ?? ''
    if (used) found.set(workload, [...(found.get(workload) ?? []), used])
  }
  return found
}

function toRow({ name, runtime, resources }: RunConfig, used: readonly Usage[] | undefined): WorkloadUsage {
  const limit = parseMemory(resources?.memory ?? '')
  const sum = (of: (usage: Usage) => number) => (used ?? []).reduce((total, one) => total + of(one), 0)
  return {
    name,
    ...(runtime ? { runtime } : {}),
    ...(used
      ? {
          cpu_percent: Math.round(sum(one => one.cpuPercent) * 100) / 100,
          memory_bytes: sum(one => one.memoryBytes),
          instances: used.length,
        }
      : {}),
    ...(limit ? { memory_limit_bytes: limit } : {}),
  }
}
