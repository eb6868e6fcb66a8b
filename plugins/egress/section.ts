import { bool, type ObjectOf, optional } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import { failures } from './failures.ts'
import { checkProfile } from './profile-check.ts'

const members = {
  isolate_network: optional(bool),
  allow_docker_gateway: optional(bool),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

/** Checks the permission profile and the isolation switches, wherever the run config came from. */
export const egressSection: Section = {
  members,
  check({ permission_profile: profile }) {
    if (profile === undefined || profile === null) return
    const { errors } = checkProfile(profile)
    if (errors.length) throw failures.profile_invalid({ problems: errors })
  },
}
