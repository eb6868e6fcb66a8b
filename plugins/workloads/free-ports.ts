import { findFreePort } from '../../src/lib/ports.ts'
import type { WorkloadStore } from '../state/index.ts'

/** The ports of all other workloads, also of those that are stopped and not listening now. */
export async function portsOfOthers(
  { configs }: Pick<WorkloadStore, 'configs'>,
  name: string,
): Promise<Set<number>> {
  const others = (await configs.list()).filter(other => other.name !== name)
  return new Set(
    others.flatMap(({ port, target_port }) => [port, target_port].filter(port => port !== undefined)),
  )
}

/** A port of this machine that is free now and that is not among the taken ones. */
export async function findUntakenPort(taken: ReadonlySet<number>, host?: string): Promise<number> {
  let port = await findFreePort(host)
  while (taken.has(port)) port = await findFreePort(host)
  return port
}
