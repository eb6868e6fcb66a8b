import type { Log } from '../../../src/log.ts'
import type { FetchedSkill, SkillSources } from '../../skill-sources/index.ts'
import { pinSkillReference } from '../../skill-sources/index.ts'
import { failures } from '../failures.ts'
import type { Installations } from '../install/installations.ts'
import { toPin } from '../install/installed-state.ts'
import { joinSteps } from '../install/membership.ts'
import type { Place } from '../install/place.ts'
import type { Plan } from '../install/plan.ts'
import { planTree } from '../install/plan-tree.ts'
import { isUnsignedAllowed } from '../install/trust.ts'
import type { LockEntry } from '../lock/lock-entry.ts'
import { compareLock } from './compare-lock.ts'
import { type FailedSkill, toFailedSkill } from './failed-skill.ts'

/** The options of `sync`. */
export interface SyncRequest {
  readonly clients?: readonly string[] | undefined
  /** Only returns what differs. */
  readonly check?: boolean | undefined
  /** Removes installed skills that are not in the lock file. */
  readonly prune?: boolean | undefined
  /** Adds such skills to the lock file instead, and takes over folders of the same name. */
  readonly adopt?: boolean | undefined
  /** Fails without a lock file, and never writes it. */
  readonly frozen?: boolean | undefined
  readonly allowUnsigned?: boolean | undefined
  /** Called for skills that only the lock file allows to be unsigned. Without it they are refused. */
  readonly confirmUnsigned?: ((names: readonly string[]) => Promise<boolean>) | undefined
  /** Overwrites edited files. */
  readonly force?: boolean | undefined
  /** Called with the differences before anything is changed. When it returns false, nothing is changed. */
  readonly confirm?: ((found: SyncResult) => Promise<boolean>) | undefined
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((what: string) => void) | undefined
}

/** Sorted names of skills. The members are named as in ToolHive's API. */
export interface SyncResult {
  installed: string[]
  drifted: string[]
  missing: string[]
  already_current: string[]
  never_managed: string[]
  removed_from_lock: string[]
  pruned: string[]
  failed: FailedSkill[]
}

type Project = Extract<Place, { scope: 'project' }>

export interface SyncDeps {
  readonly installations: Installations
  readonly sources: Pick<SkillSources, 'fetch'>
  readonly log: Log
  readonly now: () => Date
}

/** Makes the folders of a project match its lock file. A skill that fails does not stop the others. */
export function createSync(deps: SyncDeps): (place: Project, request: SyncRequest) => Promise<SyncResult> {
  const { installations, log } = deps

  return async (place, request) => {
    const { check, prune, adopt, frozen, signal } = request
    const state = await installations.read(place)
    if (frozen && state.lock?.text === undefined)
      throw failures.skill_lock_missing({ path: state.lock?.path ?? place.root })
    const chosen = request.clients?.length ? await installations.folders.choose(request.clients) : []
    const found = await compareLock(state, installations.folders, chosen)
    const result: SyncResult = {
      installed: [],
      drifted: [...found.drifted],
      missing: [...found.missing],
      already_current: [...found.current],
      never_managed: [...found.neverManaged],
      removed_from_lock: [...found.removedFromLock],
      pruned: [],
      failed: [],
    }
    const todo = [...found.missing, ...found.drifted].sort()
    const hasWork = todo.length > 0 || ((prune || adopt) && found.removedFromLock.length > 0)
    if (check || !hasWork || (request.confirm && !(await request.confirm(result)))) return result

    const isClaimed = (name: string) => {
      const { unsigned, digest = '' } = state.pins.get(name) ?? {}
      return unsigned === true && !isUnsignedAllowed(state.records.get(name), digest)
    }
    const claimed = request.allowUnsigned ? [] : todo.filter(isClaimed)
    const isAgreed = claimed.length > 0 && ((await request.confirmUnsigned?.(claimed)) ?? false)

    const attempt = async (name: string, done: string[], work: () => Promise<void>) => {
      signal?.throwIfAborted()
      try {
        await work()
        done.push(name)
      } catch (error) {
        if (signal?.aborted) throw error
        log.debug(`sync of ${name}`, { stack: error instanceof Error ? error.stack : String(error) })
        result.failed.push(toFailedSkill(name, error))
      }
    }
    for (const name of todo) {
      const entry = state.pins.get(name)
      const clients = found.clients.get(name) ?? []
      const allowUnsigned = request.allowUnsigned === true || (isAgreed && claimed.includes(name))
      const work = { ...request, allowUnsigned }
      if (entry) await attempt(name, result.installed, () => restore(deps, { place, entry, clients }, work))
    }
    for (const name of prune ? found.removedFromLock : []) {
      const remove = async (plan: Plan) => plan.remove(name, request.force ? 'replace' : 'fail')
      await attempt(name, result.pruned, () => installations.change(place, remove))
    }
    if (adopt && !prune)
      await installations.change(place, async plan => adoptAll(plan, found.removedFromLock))
    return result
  }
}

/** Installs the content that an entry of the lock file pins. */
async function restore(
  { installations, sources, now }: SyncDeps,
  { place, entry, clients }: { place: Project; entry: LockEntry; clients: readonly string[] },
  request: SyncRequest,
): Promise<void> {
  const { signal, progress, force = false, adopt = false, allowUnsigned = false, frozen = false } = request
  const chosen = clients.length ? clients : await installations.folders.choose([])
  await installations.withStaging(async staging => {
    const reference = pinSkillReference(entry.resolvedReference ?? entry.source, entry.digest)
    const fetched = await sources.fetch(reference, { staging, typed: false, signal, progress })
    assertLocked(entry, fetched)
    await installations.change(place, async (plan, state) => {
      const requires = [...state.pins.values()]
        .filter(({ requiredBy = [] }) => requiredBy.includes(entry.name))
        .map(({ name }) => name)
      const wanted = { fetched, source: entry.source, requiredBy: [], requires }
      const isNew = !state.records.has(entry.name)
      const record = await planTree(plan, state, [wanted], {
        ...{ clients: chosen, allowUnsigned, now: now() },
        onConflict: force ? 'replace-adopt-same' : adopt ? 'adopt' : 'adopt-same',
        ...{ replace: true, rule: 'same-content' as const, explicit: false, keepPins: true },
      })
      if (!frozen) plan.pin(completed(entry, toPin(record)))
      if (!isNew) return
      for (const step of await joinSteps(installations.groups, 'default', entry.name)) plan.addGroupStep(step)
    })
  })
}

/** Fails with `skill_content_changed` when the fetched content is not the pinned one. */
function assertLocked(entry: LockEntry, fetched: FetchedSkill): void {
  const { name, digest, contentDigest } = entry
  const changed = (locked: string, found: string) => failures.skill_content_changed({ name, locked, found })
  if (fetched.manifest.name !== name) throw changed(`the name "${name}"`, `"${fetched.manifest.name}"`)
  if (fetched.digest !== digest) throw changed(digest, fetched.digest)
  if (contentDigest !== undefined && fetched.contentDigest !== contentDigest)
    throw changed(`the content ${contentDigest}`, fetched.contentDigest)
}

/** Returns an entry with its missing members added. Members that it has stay unchanged. */
function completed(entry: LockEntry, pin: LockEntry): LockEntry {
  const { contentDigest, provenance, unsigned } = pin
  const isTrusted = entry.provenance !== undefined || entry.unsigned === true
  return {
    ...entry,
    ...(entry.contentDigest === undefined && contentDigest ? { contentDigest } : {}),
    ...(isTrusted ? {} : { ...(provenance ? { provenance } : {}), ...(unsigned ? { unsigned } : {}) }),
  }
}

function adoptAll(plan: Plan, names: readonly string[]): void {
  for (const name of names) {
    const record = plan.records.get(name)
    if (!record) continue
    const isThere = (parent: string) => plan.pins.has(parent) || names.includes(parent)
    const required_by = record.required_by.filter(isThere)
    plan.pin(toPin({ ...record, required_by, explicit: record.explicit || required_by.length === 0 }))
  }
}
