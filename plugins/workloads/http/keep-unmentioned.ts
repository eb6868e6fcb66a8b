import { isDeepStrictEqual } from 'node:util'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { TypeOf } from '../../../src/lib/schema.ts'
import type { editBody } from './schemas.ts'

type Body = TypeOf<typeof editBody>

/** The members that an edit keeps unless its body has them. An empty value removes a member. */
const KEPT = [
  'runtime',
  'target_host',
  'publish',
  'env_file_dir',
  'container_labels',
  'resources',
  'ignore_config',
  'image_verification',
  'allowed_origins',
  'endpoint_prefix',
  'session_ttl',
  'stateless',
  'debug',
] as const

/** The members that an edit keeps unless it changes the target. No body has them. */
const KEPT_WITH_TARGET = [
  'source',
  'registry_server_name',
  'registry_url',
  'registry_api_url',
  'registry_source',
  'registry_env_vars',
  'accepted_permissions',
  'remote_must_be_public',
  'remote_auth_config',
  'header_forward',
] as const

/** The members of a workload that an edit does not mention, in the shape of a body. */
export function unmentioned(body: Body, replaces: RunConfig): Body {
  return {
    ...pick(
      replaces,
      KEPT.filter(member => body[member] === undefined),
    ),
    ...profileOf(body, replaces),
  } as Body
}

/** The profile together with its name, because the name does not fit another profile. */
function profileOf(body: Body, replaces: RunConfig): object {
  if (body.permission_profile_name_or_path !== undefined) return {}
  const { permission_profile: profile } = body
  const isKept = profile === undefined || isDeepStrictEqual(profile, replaces.permission_profile)
  return isKept ? pick(replaces, ['permission_profile', 'permission_profile_name_or_path']) : {}
}

/** The members that no flag sets: the names of the instance, and the origin of an unchanged target. */
export const keptBesideFlags = (body: Body, replaces: RunConfig): Partial<RunConfig> => ({
  ...pick(replaces, ['base_name', 'container_name']),
  ...(isSameTarget(body, replaces) ? pick(replaces, KEPT_WITH_TARGET) : {}),
})

/** Whether an edit names the target that the workload has. */
export function isSameTarget({ image, url, remote_url }: Body, replaces: RunConfig): boolean {
  const remote = url || remote_url
  return remote ? remote === replaces.remote_url : image !== undefined && image === replaces.image
}

const pick = <K extends keyof RunConfig>(
  config: Partial<RunConfig>,
  members: readonly K[],
): Partial<Pick<RunConfig, K>> =>
  Object.fromEntries(
    members.flatMap(member => (config[member] === undefined ? [] : [[member, config[member]]])),
  ) as Partial<Pick<RunConfig, K>>
