import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { editBody } from './schemas.ts'

type Body = Static<typeof editBody>

/** What an edit leaves as it is unless its body has the member. An empty value takes it away. */
const CARRIED = [
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

/** What an edit that does not change the target leaves as it is. No body says it. */
const OF_THE_TARGET = [
  'source',
  'registry_server_name',
  'registry_url',
  'registry_api_url',
  'registry_source',
  'registry_env_vars',
  'accepted_permissions',
  'remote_must_be_public',
] as const

/** The members of a workload that an edit does not mention, in the shape of a body. */
export function unmentioned(body: Body, replaces: RunConfig): Body {
  return {
    ...pick(
      replaces,
      CARRIED.filter(member => body[member] === undefined),
    ),
    ...profileOf(body, replaces),
  } as Body
}

/** A profile and its name go together: a new profile is not what the old name stands for. */
function profileOf(body: Body, replaces: RunConfig): object {
  if (body.permission_profile_name_or_path !== undefined) return {}
  const { permission_profile: profile } = body
  const isKept = profile === undefined || isDeepStrictEqual(profile, replaces.permission_profile)
  return isKept ? pick(replaces, ['permission_profile', 'permission_profile_name_or_path']) : {}
}

/** The members that no flag says: names of the instance, and where an unchanged target came from. */
export const keptBesideFlags = (body: Body, replaces: RunConfig): Partial<RunConfig> => ({
  ...pick(replaces, ['base_name', 'container_name']),
  ...(isSameTarget(body, replaces) ? pick(replaces, OF_THE_TARGET) : {}),
})

/** Whether an edit names what runs already. */
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
