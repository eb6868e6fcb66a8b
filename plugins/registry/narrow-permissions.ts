import type { PermissionProfile } from '../../src/contracts/run-config.ts'
import { checkProfile, whyNotPublic } from '../egress/index.ts'

/** What of an entry's permissions may be used without a question, and why the entry cannot be run. */
export interface Narrowed {
  /** The network alone. What the entry calls its profile is left out: only a user's own profile has a name. */
  readonly profile: PermissionProfile
  readonly problems: readonly string[]
}

/** Modes that give a server no more than it has without an entry. */
const MODES: ReadonlySet<string | undefined> = new Set([undefined, '', 'bridge', 'none'])

/**
 * Keeps what narrows of an entry's permissions: public hosts, ports, no network at all. Whatever else
 * an entry wants is a problem, and members that nobody knows are dropped. Mounts are judged elsewhere.
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
    ...(inbound?.allow_host?.length ? ['network.inbound: who may call a server is for its user to say'] : []),
    ...hosts.flatMap((host, i) => {
      const problem = whyNotPublic(host)
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
