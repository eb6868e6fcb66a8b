import type { RunConfig } from '../../src/contracts/run-config.ts'
import { allowDestination } from './allow-destination.ts'
import { decide } from './decide.ts'
import type { Decision, Resolve } from './decision.ts'
import { withHelpers } from './helper/with-helpers.ts'
import type { Egress, Explanation } from './index.ts'
import { networkKindOf } from './network-isolation.ts'
import { parseDestination } from './parse-destination.ts'
import { policyOf } from './policy.ts'
import { checkProfile } from './profile-check.ts'
import { createEgressProxy } from './proxy/egress-proxy.ts'
import { readDenials } from './read-denials.ts'
import { openRegistryProxy } from './registry-proxy.ts'
import { widenedLists } from './widened-lists.ts'

export function createEgress(parts: {
  /** Reads a saved run config; fails with `workload_missing`. */
  readonly configOf: (workload: string) => Promise<RunConfig>
  /** Path of the log of a workload's proxy. */
  readonly logOf: (workload: string) => string
  readonly resolve: Resolve
  readonly ownAddresses: () => ReadonlySet<string>
  /** The gateway's addresses on the workload's network, as far as known now. */
  readonly gatewaysOf?: (config: RunConfig) => Promise<readonly string[]>
}): Egress {
  const { configOf, logOf, resolve, ownAddresses, gatewaysOf = async () => [] } = parts
  const egress: Egress = {
    createProxy(options) {
      const all = { resolve, ownAddresses, ...options }
      return withHelpers(createEgressProxy(all), all)
    },

    denials: async workload => readDenials(logOf((await configOf(workload)).name)),

    openRegistryProxy: options => openRegistryProxy(egress, options),

    allow: (config, destination) => allowDestination(config, destination, { resolve, ownAddresses }),

    widened: widenedLists,

    warnings: config => (config.permission_profile ? checkProfile(config.permission_profile).warnings : []),

    async explain(workload, url): Promise<Explanation> {
      const destination = parseDestination(url)
      const config = await configOf(workload)
      const about = { workload, ...destination, addresses: [] }
      const network = networkKindOf(config)
      if (network === 'none') {
        const reason = 'the network mode of its permission profile is none: it has no network'
        return { ...about, allowed: false, rule: 'no_network', member: 'network.mode', reason }
      }
      if (network === 'open') {
        return { ...about, allowed: true, rule: 'not_isolated', reason: reasonForOpen(config) }
      }
      const policy = policyOf(config, await gatewaysOf(config))
      const decision: Decision = await decide(policy, destination, { resolve, ownAddresses })
      return { workload, ...decision }
    },
  }
  return egress
}

function reasonForOpen({ remote_url, permission_profile: profile }: RunConfig): string {
  if (remote_url) return 'it runs elsewhere; nothing here stands between it and the network'
  const mode = profile?.network?.mode
  if (mode) return `it is not isolated (network mode "${mode}"); no profile is enforced`
  return 'it is not isolated; no profile is enforced'
}
