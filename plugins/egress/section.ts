import type { RunConfig } from '../../src/contracts/run-config.ts'
import { failures as core } from '../../src/errors.ts'
import type { Section } from '../../src/plugin.ts'
import { failures } from './failures.ts'
import { checkProfile } from './profile-check.ts'

/** Checks the permission profile and the isolation switches, wherever the run config came from. */
export const egressSection: Section = {
  keys: ['permission_profile', 'isolate_network', 'allow_docker_gateway'],
  check(config) {
    const { permission_profile: profile, ...rest } = config
    if (profile !== undefined && profile !== null) {
      const { errors } = checkProfile(profile)
      if (errors.length) throw failures.profile_invalid({ problems: errors })
    }
    for (const key of ['isolate_network', 'allow_docker_gateway'] as const) {
      const value: unknown = rest[key]
      if (value !== undefined && typeof value !== 'boolean') {
        throw core.usage({ text: `${key} is true or false.` })
      }
    }
  },
}

/** How the network of a workload's instance is to be set up. */
export type NetworkKind =
  /** A network of its own, out only through the egress proxy. */
  | 'isolated'
  /** No network at all. */
  | 'none'
  /** The runtime's usual network, or the one the user named: nothing is enforced here. */
  | 'open'

/** Modes that mean the runtime's default network. */
const BRIDGE_MODES: ReadonlySet<string> = new Set(['', 'bridge', 'default'])

export const isBridgeMode = (mode: string | undefined): boolean => BRIDGE_MODES.has(mode ?? '')

/** What a run config asks for. A server is isolated unless `isolate_network` says that it is not to be. */
export function networkKindOf(config: RunConfig): NetworkKind {
  const mode = config.permission_profile?.network?.mode
  if (config.remote_url) return 'open'
  if (mode === 'none') return 'none'
  return config.isolate_network !== false && isBridgeMode(mode) ? 'isolated' : 'open'
}
