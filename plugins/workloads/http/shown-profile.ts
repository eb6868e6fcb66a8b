import { isDeepStrictEqual } from 'node:util'
import type { PermissionProfile, RunConfig } from '../../../src/contracts/run-config.ts'
import { BUILT_IN } from '../profile-flag.ts'
import type { CreateBody } from './schemas.ts'

/** The profile of a workload as it is enforced: the built-in `network` where it has none, and its volumes as mounts. */
export function shownProfile(config: RunConfig): PermissionProfile | null {
  if (config.remote_url) return config.permission_profile ?? null
  const profile: PermissionProfile = config.permission_profile ?? BUILT_IN.network
  const mounts = toMountLists(config.volumes)
  const read = union(profile.read, mounts.read)
  const write = union(profile.write, mounts.write)
  return { ...profile, ...(read.length ? { read } : {}), ...(write.length ? { write } : {}) }
}

/**
 * A body without what `shownProfile` adds. Clients send back what they were shown, and a volume that they remove must not
 * stay in the profile. A profile that is sent back unchanged is left out, so that the edit keeps the one there is.
 */
export function withoutShown(body: CreateBody, replaces: RunConfig | undefined): CreateBody {
  const { permission_profile: profile, ...rest } = body
  if (!profile) return body
  const isNamed = body.permission_profile_name_or_path !== undefined
  if (replaces && !isNamed && isDeepStrictEqual(profile, shownProfile(replaces))) return rest
  const mounts = toMountLists([...(body.volumes ?? []), ...(replaces?.volumes ?? [])])
  const { read = [], write = [], ...others } = profile
  const kept = {
    read: read.filter(path => !mounts.read.includes(path)),
    write: write.filter(path => !mounts.write.includes(path)),
  }
  if (kept.read.length === read.length && kept.write.length === write.length) return body
  const lists = Object.fromEntries(Object.entries(kept).filter(([, paths]) => paths.length))
  return { ...rest, permission_profile: { ...others, ...lists } }
}

/** Volumes (`HOST:CONTAINER[:ro]`) in the lists of a profile. */
function toMountLists(volumes: readonly string[] = []): { read: string[]; write: string[] } {
  const lists: { read: string[]; write: string[] } = { read: [], write: [] }
  for (const volume of volumes) {
    lists[volume.endsWith(':ro') ? 'read' : 'write'].push(volume.replace(/:(ro|rw)$/, ''))
  }
  return lists
}

const union = (one: readonly string[] = [], other: readonly string[]): string[] => [
  ...new Set([...one, ...other]),
]
