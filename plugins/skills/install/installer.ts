import { suggest } from '../../../src/lib/suggest.ts'
import { isSkillName } from '../../skill-artifacts/index.ts'
import type { SkillSigner, SkillSources } from '../../skill-sources/index.ts'
import { failures } from '../failures.ts'
import { fetchTree } from './fetch-tree.ts'
import type { Installations } from './installations.ts'
import { findPinned } from './installed-state.ts'
import { joinSteps } from './membership.ts'
import { describePlace, type Place, USER } from './place.ts'
import { planTree } from './plan-tree.ts'
import { type InstalledSkill, type SkillRecord, toInstalledSkill } from './record.ts'

/** The options of `install`. */
export interface InstallRequest {
  /** A name in the registry, an artifact, a Git repository or a local build. */
  readonly reference: string
  /** The tag of a reference without one. */
  readonly version?: string | undefined
  readonly clients?: readonly string[] | undefined
  readonly force?: boolean | undefined
  readonly group?: string | undefined
  readonly allowUnsigned?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((what: string) => void) | undefined
}

/** An installed skill with its signer. */
export interface SkillDetails {
  readonly skill: InstalledSkill
  readonly provenance?: SkillSigner
  readonly unsigned?: boolean
}

const DEFAULT_GROUP = 'default'

/** Installs, shows and removes skills. */
export interface Installer {
  install(place: Place, request: InstallRequest): Promise<SkillDetails>
  /** Returns an installed skill. Fails with `skill_not_installed`. */
  get(place: Place, name: string): Promise<SkillDetails>
  list(places: readonly Place[] | 'all'): Promise<InstalledSkill[]>
  /**
   * Removes a skill and those that only it needed. Fails with `skill_not_installed`, `skill_edited` or
   * `skill_required`.
   */
  uninstall(place: Place, name: string, options: { force: boolean }): Promise<void>
}

export function createInstaller(options: {
  installations: Installations
  sources: Pick<SkillSources, 'fetch'>
  now: () => Date
}): Installer {
  const { installations, sources, now } = options

  /** Returns the skills in a project's lock file; none when it cannot be read, so that a list still works. */
  async function managedNames(place: Place): Promise<ReadonlySet<string>> {
    if (place.scope === 'user') return new Set()
    const state = await installations.read(place).catch(() => undefined)
    return new Set(state?.lock?.entries.keys())
  }

  return {
    async install(place, request) {
      const { reference, version, signal, progress, force = false, allowUnsigned = false } = request
      const clients = await installations.folders.choose(request.clients ?? [])
      await installations.groups.get(request.group || DEFAULT_GROUP)
      const before = await installations.read(place)
      return installations.withStaging(async staging => {
        const pinned = (needed: string) => findPinned(before, needed)
        const tree = await fetchTree(sources, reference, {
          ...{ staging, typed: true, version, pinned, signal, progress },
        })
        signal?.throwIfAborted()
        return installations.change(place, async (plan, state) => {
          const record = await planTree(plan, state, tree, {
            ...{ clients, allowUnsigned, version, now: now() },
            onConflict: force ? 'replace' : 'fail',
            ...{ replace: false, rule: 'newer-version' as const, explicit: true },
          })
          for (const { fetched } of tree) {
            const { name } = fetched.manifest
            if (state.records.has(name) && !request.group) continue // it may have changed since
            const steps = await joinSteps(installations.groups, request.group || DEFAULT_GROUP, name)
            for (const step of steps) plan.addGroupStep(step)
          }
          return toDetails(record, place, { managed: place.scope === 'project' })
        })
      })
    },

    async get(place, name) {
      assertName(name)
      const { records, lock } = await installations.read(place)
      const record = records.get(name)
      if (!record) throw notInstalled(place, name, records)
      return toDetails(record, place, { managed: lock?.entries.has(name) ?? false })
    },

    async list(wanted) {
      await installations.read(USER)
      const places = wanted === 'all' ? await installations.store.places() : wanted
      const found: InstalledSkill[] = []
      for (const place of places) {
        const managed = await managedNames(place)
        const records = await installations.store.read(place)
        for (const record of records.values())
          found.push(toInstalledSkill(record, place, { managed: managed.has(record.name) }))
      }
      return found.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    },

    async uninstall(place, name, { force }) {
      assertName(name)
      await installations.change(place, async (plan, { records, pins }) => {
        // A skill that is only in the lock file is removed from it.
        if (!records.has(name) && !pins.has(name)) throw notInstalled(place, name, records)
        const parents = pins.get(name)?.requiredBy ?? []
        if (parents.length && !force) throw failures.skill_required({ name, parents })
        await plan.remove(name, force ? 'replace' : 'fail')
      })
    },
  }
}

/** Fails with `skill_name_invalid`. */
export function assertName(name: string): void {
  if (!isSkillName(name)) throw failures.skill_name_invalid({ name: name.slice(0, 120) })
}

function toDetails(record: SkillRecord, place: Place, lock: { managed: boolean }): SkillDetails {
  const { provenance, unsigned } = record
  return {
    skill: toInstalledSkill(record, place, lock),
    ...(provenance ? { provenance } : {}),
    ...(unsigned ? { unsigned } : {}),
  }
}

const notInstalled = (place: Place, name: string, records: ReadonlyMap<string, unknown>) =>
  failures.skill_not_installed({
    name,
    where: describePlace(place),
    near: suggest(name, [...records.keys()]),
  })
