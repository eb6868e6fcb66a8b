import { instanceName, type RunConfig } from '../../src/contracts/run-config.ts'
import type { Plugin } from '../../src/plugin.ts'
import { EgressExplain } from './commands/egress-explain.ts'
import { EgressProxyCommand } from './commands/egress-proxy.ts'
import type { Decision, Destination, Rule } from './decision.ts'
import type { EgressProxy, EgressProxyOptions } from './proxy/egress-proxy.ts'
import type { Denial } from './read-denials.ts'
import type { RegistryProxy, RegistryProxyOptions } from './registry-proxy.ts'
import { egressSection } from './section.ts'
import type { OutboundLists } from './widened-lists.ts'

export type { Decision, Destination, Resolve, Rule } from './decision.ts'
export {
  isBridgeMode,
  isolationOf,
  type NetworkKind,
  networkKindOf,
  settleIsolation,
} from './network-isolation.ts'
export { compilePolicy, type Policy, policyOf } from './policy.ts'
export { checkProfile, type ProfileReport } from './profile-check.ts'
export type { EgressLimits } from './proxy/egress-limits.ts'
export type {
  EgressEvent,
  EgressListener,
  EgressListenerOptions,
  EgressProxy,
  EgressProxyOptions,
} from './proxy/egress-proxy.ts'
export { publicHostProblem } from './public-host.ts'
export type { Denial } from './read-denials.ts'
export type { RegistryProxy, RegistryProxyOptions } from './registry-proxy.ts'

/** What would happen if a workload connected somewhere. */
export interface Explanation extends Omit<Decision, 'rule'> {
  readonly workload: string
  /** `not_isolated` and `no_network` decide before any profile does. */
  readonly rule: Rule | 'not_isolated' | 'no_network'
}

/** The egress proxy of isolated workloads, and its policy. */
export interface Egress {
  /**
   * Says what would happen, from the saved run config and the addresses as they are now. Fails with
   * `workload_missing`, or with `explain_url_unreadable`.
   */
  explain(workload: string, url: string): Promise<Explanation>
  /**
   * The run config with a permission profile that also allows the host and port, not saved. Undefined where that is
   * allowed already, or where a profile cannot allow it by name.
   */
  allow(config: RunConfig, destination: Destination): Promise<RunConfig | undefined>
  /**
   * The lists of the profile that `allow` would make of one for a destination on the public internet, without asking a name
   * server. Undefined where `allow` would not help.
   */
  widened(config: RunConfig, destination: Destination): Promise<OutboundLists | undefined>
  /** The destinations that a workload was denied lately, each once, the last one first. */
  denials(workload: string): Promise<readonly Denial[]>
  /** Makes the proxy that enforces policies; one for all workloads of a process. */
  createProxy(options: EgressProxyOptions): EgressProxy
  /** Opens a proxy to package registries only, for tools that install or build packages. Fails with `egress_listener_unusable`. */
  openRegistryProxy(options: RegistryProxyOptions): Promise<RegistryProxy>
  /** What is odd about the profile of a run config, e.g. members that do nothing. */
  warnings(config: RunConfig): readonly string[]
}

declare module '../../src/plugin.ts' {
  interface Services {
    egress: Egress
  }
}

/** Decides what workloads may reach, and runs the proxy through which they reach it. */
const egress: Plugin = {
  name: 'egress',
  needs: ['runtimes'],
  uses: ['runtimes', 'workloadStore'],
  commands: [EgressExplain, EgressProxyCommand],
  routes: async (api, app) => (await import('./routes.ts')).egressRoutes(api, app),
  services: {
    async egress(app) {
      const [{ createEgress }, { createResolver }, { createOwnAddresses }, store] = await Promise.all([
        import('./service.ts'),
        import('./resolver.ts'),
        import('../../src/net/own-addresses.ts'),
        app.service('workloadStore'),
      ])
      return createEgress({
        configOf: name => store.configs.get(name),
        logOf: name => store.proxyLogPath(name),
        resolve: createResolver(),
        ownAddresses: createOwnAddresses(),
        async gatewaysOf(config) {
          // `explain` also works while the engine does not respond.
          const runtimes = await app.service('runtimes')
          const runtime = await runtimes.get(config.runtime ?? '').catch(() => undefined)
          return (await runtime?.isolation?.gateways?.(instanceName(config)).catch(() => [])) ?? []
        },
      })
    },
  },
  provides: { sections: [egressSection] },
}
export default egress
