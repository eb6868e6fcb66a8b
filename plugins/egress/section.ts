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
