import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { isEmpty } from '../../../src/lib/is-empty.ts'

/** What becomes of one member of a run config. */
export interface Carried {
  /** What the resource holds of it. */
  readonly spec?: object
  /** What the resource, or the operator, does not do with it; members of the member come with their names. */
  readonly lost?: readonly string[]
}

type Carriers = {
  readonly [K in keyof RunConfig]?: (value: NonNullable<RunConfig[K]>, config: RunConfig) => Carried
}

/** Members that say what a workload is called, or how this machine runs it; the cluster decides that on its own. */
const OF_THIS_MACHINE = new Set([
  'schema_version',
  'name',
  'base_name',
  'container_name',
  'runtime',
  'no_sandbox',
  'source',
  'host',
  'target_host',
  'debug',
  // Repeats what the other members say; `run` refuses entries that differ from them.
  'middleware_configs',
  // Where a registry's entry was found.
  'registry_server_name',
  'registry_url',
  'registry_api_url',
  'registry_source',
  'registry_env_vars',
])

/** Takes from a run config what the carriers know, and names all else that asks for something, sorted. */
export function carry(config: RunConfig, carriers: Carriers): { spec: object; lost: string[] } {
  const spec = {}
  const lost: string[] = []
  for (const [member, value] of Object.entries(config)) {
    if (OF_THIS_MACHINE.has(member) || isEmpty(value)) continue
    const carrier = Object.hasOwn(carriers, member) ? carriers[member as keyof RunConfig] : undefined
    // The value is that of the member, which TypeScript cannot see across the entries.
    const carried = (carrier as ((value: unknown, config: RunConfig) => Carried) | undefined)?.(value, config)
    Object.assign(spec, carried?.spec)
    lost.push(...(carried ? (carried.lost ?? []) : [member]))
  }
  return { spec, lost: lost.sort() }
}

/** The names of members of an object that ask for something and are not among `known`. */
export const otherMembers = (member: string, value: object, known: readonly string[]): string[] =>
  Object.entries(value).flatMap(([key, part]) =>
    known.includes(key) || isEmpty(part) ? [] : [`${member}.${key}`],
  )
