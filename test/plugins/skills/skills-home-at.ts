import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createGroups, type Groups } from '../../../plugins/groups/service.ts'
import { contentDigest } from '../../../plugins/skill-artifacts/format/content-digest.ts'
import type { SkillSources } from '../../../plugins/skill-sources/index.ts'
import { createClientFolders } from '../../../plugins/skills/install/client-folders.ts'
import { createInstallations, type Installations } from '../../../plugins/skills/install/installations.ts'
import {
  createInstaller,
  type Installer,
  type InstallRequest,
} from '../../../plugins/skills/install/installer.ts'
import type { Place } from '../../../plugins/skills/install/place.ts'
import { createSync, type SyncRequest, type SyncResult } from '../../../plugins/skills/update/sync-skills.ts'
import {
  createUpgrade,
  type UpgradeOutcome,
  type UpgradeRequest,
} from '../../../plugins/skills/update/upgrade-skills.ts'
import { createLog } from '../../../src/log.ts'
import { createFakeSources, createPublisher, type Publisher } from '../../support/fake-skill-sources.ts'

/** Everything that installs skills, in a home folder of its own, with a publisher in place of the network. */
export interface SkillsHome extends Publisher {
  readonly home: string
  readonly project: Place & { root: string }
  readonly installer: Installer
  /** In the project. */
  sync(request?: SyncRequest): Promise<SyncResult>
  upgrade(request?: UpgradeRequest, place?: Place): Promise<UpgradeOutcome[]>
  readonly installations: Installations
  readonly sources: SkillSources & { readonly fetched: readonly string[] }
  readonly groups: Groups
  /** Warnings that were logged. */
  readonly warnings: readonly string[]
  /** Makes it look as if these clients were installed: by the folder or file that shows it. */
  hasClient(...paths: string[]): Promise<void>
  /** The text of a file below the home folder; undefined when there is none. */
  read(path: string): Promise<string | undefined>
  write(path: string, text: string): Promise<void>
  /** Runs an operation as a program would be asked for it: `{ scope, name, … }` and its own members. */
  operate(operation: string, request: object): Promise<unknown>
  /** Every file below a folder of the home, by path, with its text. */
  tree(path: string): Promise<Record<string, string>>
}

export const USER: Place = { scope: 'user' }
const NOW = new Date('2026-05-04T03:02:01Z')

/** Works without a test around it, too. */
export function skillsHomeAt(home: string): SkillsHome {
  const warnings: string[] = []
  const log = createLog({ write: line => void warnings.push(line), human: true, debug: false })
  const groups = createGroups({
    paths: { state: join(home, 'state') },
    log,
    configs: async () => ({ list: async () => [], find: async () => undefined, save: async () => undefined }),
    removeWorkloads: async () => [],
  })
  const installations = createInstallations({
    folder: join(home, 'data/skills'),
    folders: createClientFolders({ home, env: {}, platform: 'linux' }),
    groups,
    contentDigest,
    log,
  })
  const published = join(home, 'published')
  const sources = createFakeSources(published)
  const project: SkillsHome['project'] = { scope: 'project', root: join(home, 'project') }
  const installer = createInstaller({ installations, sources, now: () => NOW })
  const deps = { installations, sources, log, now: () => NOW }
  const [sync, upgrade] = [createSync(deps), createUpgrade(deps)]
  return {
    ...{ home, installations, sources, groups, warnings, ...createPublisher(published) },
    project,
    installer,
    sync: (request = {}) => sync(project, request),
    upgrade: (request = {}, place = project) => upgrade(place, request),
    async hasClient(...paths) {
      for (const path of paths) {
        if (path.endsWith('.json')) await writeFile(join(home, path), '{}')
        else await mkdir(join(home, path), { recursive: true })
      }
    },
    read: path => readFile(join(home, path), 'utf8').catch(() => undefined),
    async write(path, text) {
      await mkdir(dirname(join(home, path)), { recursive: true })
      await writeFile(join(home, path), text)
    },
    operate(operation, { scope = 'user', name = '', ...request }: { scope?: string; name?: string }) {
      const place = scope === 'user' ? USER : project
      const operations: Record<string, () => Promise<unknown>> = {
        install: () => installer.install(place, request as InstallRequest),
        uninstall: () => installer.uninstall(place, name, { force: false }),
        sync: () => sync(project, request),
        upgrade: () => upgrade(place, request),
      }
      return operations[operation]?.() ?? Promise.reject(new Error(`there is no ${operation}`))
    },
    tree: path => treeOf(join(home, path)),
  }
}

export async function treeOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const found: [string, string][] = []
  for (const entry of entries) {
    if (entry.isDirectory()) continue
    const path = join(entry.parentPath, entry.name)
    const text = entry.isFile()
      ? await readFile(path, 'utf8')
      : `(${entry.isSymbolicLink() ? 'link' : 'other'})`
    found.push([path.slice(folder.length + 1), text])
  }
  return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)))
}
