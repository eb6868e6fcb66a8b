import type { PermissionProfile } from '../../src/contracts/run-config.ts'
import { checkProfile, publicHostProblem } from '../egress/index.ts'

/** The permissions that need no question, and the reasons why the entry cannot be run. */
export interface Narrowed {
  /** Holds the network only. The entry's profile name is dropped: only a user's own profile has a name. */
  readonly profile: PermissionProfile
  readonly problems: readonly string[]
}

/** Modes that give a server no more than it has without an entry. */
const MODES: ReadonlySet<string | undefined> = new Set([undefined, '', 'bridge', 'none'])

/**
 * Keeps the permissions of an entry that narrow the default: public hosts, ports, no network at all. Everything
 * else is a problem, and unknown members are dropped. Mounts are checked in `findWantedMounts`.
 */
export function narrowPermissions(wanted: PermissionProfile): Narrowed {
  const { errors } = checkProfile(wanted)
  if (errors.length) return { profile: {}, problems: errors }
  const { network, privileged } = wanted
  const { mode, inbound, outbound } = network ?? {}
  const hosts = outbound?.allow_host ?? []
  const problems = [
    ...(privileged ? ['privileged: a container with all rights is not isolated from this machine'] : []),
    ...(MODES.has(mode ?? undefined)
      ? []
      : [`network.mode ${JSON.stringify(mode?.slice(0, 100))}: only bridge and none are isolated`]),
    ...(inbound?.allow_host?.length ? ['network.inbound: only the user may say who calls a server'] : []),
    ...hosts.flatMap((host, i) => {
      const problem = publicHostProblem(host)
      return problem
        ? [`network.outbound.allow_host[${i}] ${JSON.stringify(host.slice(0, 100))}: ${problem}`]
        : []
    }),
  ]
  return { profile: network ? { network: narrowNetwork(network) } : {}, problems }
}

function narrowNetwork({ mode, outbound }: NonNullable<PermissionProfile['network']>) {
  const { insecure_allow_all, allow_host, allow_port } = outbound ?? {}
  return {
    ...(mode ? { mode } : {}),
    ...(outbound
      ? {
          outbound: {
            ...(insecure_allow_all ? { insecure_allow_all } : {}),
            ...(allow_host ? { allow_host: [...allow_host] } : {}),
            ...(allow_port ? { allow_port: [...allow_port] } : {}),
          },
        }
      : {}),
  }
}
