import type { PermissionProfile, RunConfig } from '../../src/contracts/run-config.ts'
import type { Resolved } from '../../src/contracts/target.ts'

/**
 * Returns what an upgrade changes in a workload's permissions: nothing, unless the newer entry asks for other
 * mounts than the user decided about. In that case the user has just agreed to them (the registry target
 * fails otherwise), and they replace the old mounts. The network stays.
 */
export function adoptMounts(
  from: RunConfig,
  { accepted_permissions: accepted, permission_profile: wanted }: Resolved,
): Pick<RunConfig, 'accepted_permissions' | 'permission_profile'> {
  if (accepted === undefined || accepted === from.accepted_permissions) return {}
  if (!wanted) return { accepted_permissions: accepted }
  const { read: _, write: __, ...rest } = from.permission_profile ?? BUILT_IN
  const { read, write } = wanted
  return {
    accepted_permissions: accepted,
    permission_profile: { ...rest, ...(read ? { read } : {}), ...(write ? { write } : {}) },
  }
}

/** What a workload without a profile has: everything public. */
const BUILT_IN: PermissionProfile = { network: { outbound: { insecure_allow_all: true } } }
