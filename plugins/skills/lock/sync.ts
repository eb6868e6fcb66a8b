import type { Log } from '../../../src/log.ts'
import type { Draft } from '../install/draft.ts'
import { joinSteps } from '../install/membership.ts'
import type { Place } from '../install/place.ts'
import { putTree } from '../install/put-tree.ts'
import { toPin } from '../install/situation.ts'
import { pinReference } from '../install/source.ts'
import { isAgreedUnsigned } from '../install/trust.ts'
import type { Workshop } from '../install/workshop.ts'
import type { FetchedSkill, SkillSources } from '../skill.ts'
import { compareLock } from './compare-lock.ts'
import { failures } from './failures.ts'
import type { LockEntry } from './lock-entry.ts'
import { type FailedSkill, toFailedSkill } from './reason.ts'

/** What `sync` is asked. */
export interface SyncRequest {
  readonly clients?: readonly string[] | undefined
  /** Only says what is out of step. */
  readonly check?: boolean | undefined
  /** Takes away what was installed and is not in the lock file. */
  readonly prune?: boolean | undefined
  /** Puts it into the lock file instead, and takes over folders that are in the way. */
  readonly adopt?: boolean | undefined
  /** The lock file must be there, and is not written. */
  readonly frozen?: boolean | undefined
  readonly allowUnsigned?: boolean | undefined
  /** Asked about skills that only the lock file says may be unsigned; without it they are refused. */
  readonly agreeUnsigned?: ((names: readonly string[]) => Promise<boolean>) | undefined
  /** Gives edits up. */
  readonly force?: boolean | undefined
  /** Asked before anything is changed, with what is out of step; false leaves everything. */
  readonly agree?: ((found: SyncResult) => Promise<boolean>) | undefined
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((what: string) => void) | undefined
}

/** Names of skills, sorted; members as ToolHive's API writes them. */
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

/** Makes a project's folders what its lock file says; one skill that fails does not stop the others. */
export function createSync(options: {
  workshop: Workshop
  sources: Pick<SkillSources, 'fetch'>
  log: Log
  now: () => Date
}): (place: Project, request: SyncRequest) => Promise<SyncResult> {
  const { workshop, sources, log, now } = options

  return async (place, request) => {
    const { check, prune, adopt, frozen, signal } = request
    const situation = await workshop.look(place)
    if (frozen && situation.lock?.text === undefined)
      throw failures.skill_lock_missing({ path: situation.lock?.path ?? place.root })
    const chosen = request.clients?.length ? await workshop.folders.choose(request.clients) : []
    const found = await compareLock(situation, workshop.folders, chosen)
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
    if (check || !hasWork || (request.agree && !(await request.agree(result)))) return result

    const isClaimed = (name: string) => {
      const { unsigned, digest = '' } = situation.pins.get(name) ?? {}
      return unsigned === true && !isAgreedUnsigned(situation.records.get(name), digest)
    }
    const claimed = request.allowUnsigned ? [] : todo.filter(isClaimed)
    const isAgreed = claimed.length > 0 && ((await request.agreeUnsigned?.(claimed)) ?? false)

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
      const entry = situation.pins.get(name)
      const clients = found.clients.get(name) ?? []
      const allowUnsigned = request.allowUnsigned === true || (isAgreed && claimed.includes(name))
      const work = { ...request, allowUnsigned }
      if (entry) await attempt(name, result.installed, () => restore(place, entry, clients, work))
    }
    for (const name of prune ? found.removedFromLock : []) {
      const remove = async (draft: Draft) => draft.remove(name, { force: request.force === true })
      await attempt(name, result.pruned, () => workshop.change(place, remove))
    }
    if (adopt && !prune) await workshop.change(place, async draft => adoptAll(draft, found.removedFromLock))
    return result
  }

  async function restore(
    place: Project,
    entry: LockEntry,
    clients: readonly string[],
    request: SyncRequest,
  ): Promise<void> {
    const { signal, progress, force = false, adopt = false, allowUnsigned = false, frozen = false } = request
    const chosen = clients.length ? clients : await workshop.folders.choose([])
    await workshop.stage(async staging => {
      const reference = pinReference(entry.resolvedReference ?? entry.source, entry.digest)
      const fetched = await sources.fetch(reference, { staging, typed: false, signal, progress })
      assertLocked(entry, fetched)
      await workshop.change(place, async (draft, situation) => {
        const requires = [...situation.pins.values()]
          .filter(({ requiredBy = [] }) => requiredBy.includes(entry.name))
          .map(({ name }) => name)
        const wanted = { fetched, source: entry.source, requiredBy: [], requires }
        const isNew = !situation.records.has(entry.name)
        const record = await putTree(draft, situation, [wanted], {
          ...{ clients: chosen, force, adopt, claim: true, allowUnsigned, now: now() },
          ...{ replace: true, rule: 'same-content' as const, explicit: false, keepPins: true },
        })
        if (!frozen) draft.pin(completed(entry, toPin(record)))
        if (!isNew) return
        for (const step of await joinSteps(workshop.groups, 'default', entry.name)) draft.join(step)
      })
    })
  }
}

/** Fails with `skill_content_changed` when what came is not what the lock file names. */
function assertLocked(entry: LockEntry, fetched: FetchedSkill): void {
  const { name, digest, contentDigest } = entry
  const changed = (locked: string, found: string) => failures.skill_content_changed({ name, locked, found })
  if (fetched.manifest.name !== name) throw changed(`the name "${name}"`, `"${fetched.manifest.name}"`)
  if (fetched.digest !== digest) throw changed(digest, fetched.digest)
  if (contentDigest !== undefined && fetched.contentDigest !== contentDigest)
    throw changed(`the content ${contentDigest}`, fetched.contentDigest)
}

/** An entry with what it did not say yet; what it says stays. */
function completed(entry: LockEntry, pin: LockEntry): LockEntry {
  const { contentDigest, provenance, unsigned } = pin
  const isTrusted = entry.provenance !== undefined || entry.unsigned === true
  return {
    ...entry,
    ...(entry.contentDigest === undefined && contentDigest ? { contentDigest } : {}),
    ...(isTrusted ? {} : { ...(provenance ? { provenance } : {}), ...(unsigned ? { unsigned } : {}) }),
  }
}

function adoptAll(draft: Draft, names: readonly string[]): void {
  for (const name of names) {
    const record = draft.records.get(name)
    if (!record) continue
    const isThere = (parent: string) => draft.pins.has(parent) || names.includes(parent)
    const required_by = record.required_by.filter(isThere)
    draft.pin(toPin({ ...record, required_by, explicit: record.explicit || required_by.length === 0 }))
  }
}
