import type { RunConfig } from '../../src/contracts/run-config.ts'
import { decide, listsFor } from './decide.ts'
import type { Destination, Rule } from './decision.ts'
import { networkKindOf } from './network-isolation.ts'
import { policyOf } from './policy.ts'
import { publicHostProblem } from './public-host.ts'

/** The lists of `network.outbound`. An empty one sets no condition. */
export interface OutboundLists {
  readonly allow_host: readonly string[]
  readonly allow_port: readonly number[]
}

/** The rules that say no more than that the lists of the profile lack the destination. */
export const BY_LISTS: readonly Rule[] = ['nothing_allowed', 'not_in_allow_host', 'not_in_allow_port']

/** The lists are judged before a name is looked up. */
const OFFLINE = { resolve: async () => [], ownAddresses: () => new Set<string>() }

/**
 * The lists of a workload's profile once they allow a destination. Undefined where it is allowed already, where something
 * else denies it, or where its host is not of the public internet. Asks no name server.
 */
export async function widenedLists(
  config: RunConfig,
  destination: Destination,
): Promise<OutboundLists | undefined> {
  if (networkKindOf(config) !== 'isolated' || publicHostProblem(destination.host)) return undefined
  const policy = policyOf(config)
  const { rule, host, port } = await decide(policy, destination, OFFLINE)
  if (!BY_LISTS.includes(rule)) return undefined
  const { allowHost: allow_host, allowPort: allow_port } = policy
  return {
    ...{ allow_host, allow_port },
    ...listsFor(policy, rule === 'not_in_allow_port' ? undefined : host, port),
  }
}
