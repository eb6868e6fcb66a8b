import { isAbsolute } from 'node:path'
import type { Log } from '../../src/log.ts'
import type { Surroundings } from '../clients/index.ts'
import { contentDigest } from '../skill-artifacts/index.ts'
import type { SkillSources } from '../skill-sources/index.ts'
import { failures } from './failures.ts'
import { createClientFolders } from './install/client-folders.ts'
import { createInstallations } from './install/installations.ts'
import { createInstaller, type InstallRequest, type SkillDetails } from './install/installer.ts'
import type { SkillGroups } from './install/membership.ts'
import { findProject, type Place, toPlace, USER } from './install/place.ts'
import type { InstalledSkill } from './install/record.ts'
import { createSync, type SyncRequest, type SyncResult } from './update/sync-skills.ts'
import { createUpgrade, type UpgradeOutcome, type UpgradeRequest } from './update/upgrade-skills.ts'

/** The place that a request is about: without members the user's, with only a root the project's. */
export interface PlaceRequest {
  readonly scope?: string | undefined
  /** The absolute path of a project's top folder. */
  readonly projectRoot?: string | undefined
}

/** Installs, shows, updates and removes skills. */
export interface Skills {
  /** Returns the installed skills, sorted by name. Fails with `group_unknown`. */
  list(
    filter?: PlaceRequest & { readonly client?: string | undefined; readonly group?: string | undefined },
  ): Promise<InstalledSkill[]>
  /** Returns an installed skill with its signer. Fails with `skill_not_installed`. */
  get(name: string, place?: PlaceRequest): Promise<SkillDetails>
  /** Installs a skill and those that it needs. After a failure nothing of them is left. */
  install(request: InstallRequest & PlaceRequest): Promise<SkillDetails>
  uninstall(name: string, options?: PlaceRequest & { readonly force?: boolean }): Promise<void>
  /** Makes the folders of a project match its lock file. */
  sync(request: SyncRequest & { readonly projectRoot: string }): Promise<SyncResult>
  /** Replaces skills by the present content of their sources. */
  upgrade(request: UpgradeRequest & PlaceRequest): Promise<UpgradeOutcome[]>
  /** Returns the top folder of the project that a folder is in. Fails with `skill_project_invalid`. */
  projectOf(folder: string): Promise<string>
}

export function createSkills(options: {
  /** The folder of the records. */
  folder: string
  surroundings: Surroundings
  groups: SkillGroups
  /** Called when something has to be fetched. */
  sources: () => Promise<SkillSources>
  log: Log
  now?: () => Date
}): Skills {
  const { folder, surroundings, groups, log, now = () => new Date() } = options
  const sources: Pick<SkillSources, 'fetch'> = {
    fetch: async (reference, call) => (await options.sources()).fetch(reference, call),
  }
  const folders = createClientFolders(surroundings)
  const installations = createInstallations({ folder, folders, groups, contentDigest, log })
  const installer = createInstaller({ installations, sources, now })
  const sync = createSync({ installations, sources, log, now })
  const upgrade = createUpgrade({ installations, sources, log, now })

  async function placesOf({ scope, projectRoot }: PlaceRequest): Promise<readonly Place[] | 'all'> {
    if (projectRoot) return [await toPlace({ scope, projectRoot })]
    if (!scope) return 'all'
    if (scope === 'project') {
      return (await installations.store.places()).filter(place => place.scope === 'project')
    }
    await toPlace({ scope })
    return [USER]
  }

  return {
    async list({ client, group, ...place } = {}) {
      const places = await placesOf(place)
      const members = group ? ((await groups.get(group)).skills ?? []) : undefined
      return (await installer.list(places)).filter(
        ({ metadata, clients }) =>
          (!client || clients?.includes(client)) && (!members || members.includes(metadata.name)),
      )
    },
    get: async (name, place = {}) => installer.get(await toPlace(place), name),
    install: async request => installer.install(await toPlace(request), request),
    uninstall: async (name, { force = false, ...place } = {}) =>
      installer.uninstall(await toPlace(place), name, { force }),
    async sync(request) {
      const place = await toPlace({ scope: 'project', projectRoot: request.projectRoot })
      if (place.scope === 'user')
        throw failures.skill_scope_invalid({ problem: 'Only projects have a lock file.' })
      return sync(place, request)
    },
    upgrade: async request => upgrade(await toPlace(request), request),
    async projectOf(start) {
      const root = isAbsolute(start) ? await findProject(start) : undefined
      if (root === undefined)
        throw failures.skill_project_invalid({
          root: start,
          problem: 'neither it nor a folder above it has .git',
        })
      return root
    },
  }
}
