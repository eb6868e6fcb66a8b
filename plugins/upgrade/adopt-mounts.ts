import type { PermissionProfile, RunConfig } from '../../src/contracts/run-config.ts'
import type { Resolved } from '../../src/contracts/target.ts'

/**
 * Returns what an upgrade changes in the permissions of a workload. When the newer entry wants other mounts than
 * the user decided about, they replace the old ones. The user has agreed to them, because the registry target
 * fails otherwise. Nothing else changes.
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

/** The permissions of a workload without a profile: all public hosts. */
const BUILT_IN: PermissionProfile = { network: { outbound: { insecure_allow_all: true } } }
