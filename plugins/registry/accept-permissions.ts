import type { App } from '../../src/app.ts'
import type { RunConfig } from '../../src/contracts/run-config.ts'
import type { ResolveContext } from '../../src/contracts/target.ts'
import { isYes } from '../../src/lib/is-yes.ts'
import { clean } from '../../src/lib/printable.ts'
import { failures } from './failures.ts'
import type { ImageServer } from './formats/legacy.ts'
import { narrowPermissions } from './narrow-permissions.ts'
import { findWantedMounts, mountLines, toMountLists, type WantedMounts } from './wanted-mounts.ts'

/** The members of a run config that follow from an entry's permissions. */
export type AcceptedPermissions = Pick<RunConfig, 'permission_profile' | 'accepted_permissions'>

/**
 * Decides which of an entry's permissions the workload gets.
 *
 * Permissions that narrow the default are taken as they are, those that widen it are refused
 * (`entry_refused`), and mounts need the user's consent: `--accept-permissions`, over HTTP the hash of the
 * mounts that were shown, or a yes on the terminal. The accepted hash is stored with the workload, so an
 * upgrade only asks about other mounts. The user's own profile replaces the entry's; then nothing is
 * asked or refused.
 */
export async function acceptPermissions(
  app: App,
  name: string,
  { permissions }: Pick<ImageServer, 'permissions'>,
  context: ResolveContext,
): Promise<AcceptedPermissions> {
  if (!permissions) return {}
  const server = clean(name).slice(0, 200)
  const wanted = await findWantedMounts(permissions, { cwd: process.cwd(), home: app.paths.home })
  const remembered = wanted.hash === undefined ? {} : { accepted_permissions: wanted.hash }
  if (context.ownProfile) return remembered
  const { profile, problems } = narrowPermissions(permissions)
  const all = [...problems, ...wanted.problems]
  if (all.length) throw failures.entry_refused({ server, problems: all })
  if (wanted.hash === undefined) return { permission_profile: profile }
  await assertAccepted(app, server, { ...wanted, hash: wanted.hash }, context)
  return { permission_profile: { ...profile, ...toMountLists(wanted.mounts) }, ...remembered }
}

async function assertAccepted(
  app: App,
  server: string,
  { mounts, hash }: WantedMounts & { hash: string },
  { asked, ask, options }: ResolveContext,
): Promise<void> {
  if (asked.accepted_permissions === hash) return
  // True on the command line; over HTTP the hash of what was shown.
  const given = options['accept-permissions']
  const lines = mountLines(mounts)
  if (given === true) {
    app.log.warn(`"${server}" gets access to files of this machine:\n${lines.join('\n')}`)
    return
  }
  if (given === hash) return
  const question = [
    `"${server}" asks for access to files of this machine:`,
    ...lines,
    'Allow it? [y/N]',
  ].join('\n')
  const answer = await ask?.(question)
  if (answer === undefined) throw failures.permissions_unaccepted({ server, hash, mounts, lines })
  if (!isYes(answer)) throw failures.permissions_declined({ server })
}
