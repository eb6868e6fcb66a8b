import { isDeepStrictEqual } from 'node:util'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import type { SectionRequest } from '../../../src/http/section-request.ts'
import type { EditBody } from './schemas.ts'

/** The members of the core that an edit keeps unless its body has them. An empty value removes a member. */
const KEPT = [
  'runtime',
  'target_host',
  'publish',
  'env_file_dir',
  'container_labels',
  'resources',
  'debug',
] as const

/** The members of a workload that an edit does not mention, in the shape of a body. */
export function unmentioned(
  body: EditBody,
  replaces: RunConfig,
  requests: readonly SectionRequest[],
): EditBody {
  const kept = [...KEPT, ...requests.flatMap(request => request.kept ?? [])]
  const said: { readonly [name: string]: unknown } = body
  return {
    ...pick(
      replaces,
      kept.filter(member => said[member] === undefined),
    ),
    ...profileOf(body, replaces),
  } as EditBody
}

/** The profile together with its name, because the name does not fit another profile. */
function profileOf(body: EditBody, replaces: RunConfig): object {
  if (body.permission_profile_name_or_path !== undefined) return {}
  const { permission_profile: profile } = body
  const isKept = profile === undefined || isDeepStrictEqual(profile, replaces.permission_profile)
  return isKept ? pick(replaces, ['permission_profile', 'permission_profile_name_or_path']) : {}
}

/** The members beside those that a body has: the names of the instance, and the origin of an unchanged target. */
export const keptBesideFlags = (
  body: EditBody,
  replaces: RunConfig,
  requests: readonly SectionRequest[],
): Partial<RunConfig> => ({
  ...pick(replaces, [
    'base_name',
    'container_name',
    ...requests.flatMap(request => request.keptAlways ?? []),
  ]),
  ...(isSameTarget(body, replaces)
    ? pick(replaces, ['source', ...requests.flatMap(request => request.keptWithTarget ?? [])])
    : {}),
})

/** Whether an edit names the target that the workload has. */
export function isSameTarget({ image, url, remote_url }: EditBody, replaces: RunConfig): boolean {
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
