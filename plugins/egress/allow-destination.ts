import type { RunConfig } from '../../src/contracts/run-config.ts'
import { parseAddress } from '../../src/net/address.ts'
import { kindOf } from '../../src/net/special-addresses.ts'
import { decide, listsFor, type World } from './decide.ts'
import type { Destination } from './decision.ts'
import { policyOf } from './policy.ts'
import { BY_LISTS } from './widened-lists.ts'

/** Addresses of this host, of private networks and the like, which a profile has to name one by one. */
function isInside(host: string, { ownAddresses }: World): boolean {
  const address = parseAddress(host)
  return address !== undefined && (kindOf(address) !== undefined || ownAddresses().has(address.text))
}

/**
 * The run config with a permission profile that also allows a destination. Undefined where it is allowed already, or
 * where something else than the lists of the profile denies it: addresses of this host and of private networks.
 */
export async function allowDestination(
  config: RunConfig,
  destination: Destination,
  world: World,
): Promise<RunConfig | undefined> {
  const policy = policyOf(config)
  const { rule, host, port } = await decide(policy, destination, world)
  if (!BY_LISTS.includes(rule) || isInside(host, world)) return undefined
  const { permission_profile: profile = {}, permission_profile_name_or_path: name = 'custom' } = config
  const lists = listsFor(policy, rule === 'not_in_allow_port' ? undefined : host, port)
  const changed = {
    ...config,
    // A profile of the user's own: an upgrade keeps it.
    permission_profile_name_or_path: name,
    permission_profile: {
      ...profile,
      network: { ...profile.network, outbound: { ...profile.network?.outbound, ...lists } },
    },
  }
  const after = await decide(policyOf(changed), destination, world)
  return after.allowed || after.rule === 'unresolvable' ? changed : undefined
}
