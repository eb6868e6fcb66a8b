import { sectionRequest } from '../../src/http/section-request.ts'
import { bool, type ObjectOf, optional } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { failures } from './failures.ts'
import { isBridgeMode } from './network-isolation.ts'
import { checkProfile } from './profile-check.ts'

const members = {
  isolate_network: optional(bool),
  allow_docker_gateway: optional(bool),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

const request = sectionRequest({
  body: { network_isolation: optional(bool), ...members },
  details: { network_isolation: bool, allow_docker_gateway: optional(bool) },
  toOptions: ({ network_isolation, isolate_network, allow_docker_gateway }) => ({
    'isolate-network': network_isolation ?? isolate_network,
    'allow-docker-gateway': allow_docker_gateway || undefined,
  }),
  toDetails: ({ isolate_network, permission_profile, allow_docker_gateway }) => ({
    network_isolation: isolate_network ?? isBridgeMode(permission_profile?.network?.mode),
    ...(allow_docker_gateway ? { allow_docker_gateway } : {}),
  }),
})

/** Checks the permission profile and the isolation switches, wherever the run config came from. */
export const egressSection: Section = {
  members,
  request,
  check({ permission_profile: profile }) {
    if (profile === undefined || profile === null) return
    const { errors } = checkProfile(profile)
    if (errors.length) throw failures.profile_invalid({ problems: errors })
  },
}
