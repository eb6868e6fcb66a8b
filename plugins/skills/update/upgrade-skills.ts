import { suggest } from '../../../src/lib/suggest.ts'
import type { Log } from '../../../src/log.ts'
import type { SkillSources } from '../../skill-sources/index.ts'
import { describeReference } from '../../skill-sources/index.ts'
import { failures } from '../failures.ts'
import { fetchTree, type InstallTree } from '../install/fetch-tree.ts'
import type { Installations } from '../install/installations.ts'
import { findPinned, type InstalledState } from '../install/installed-state.ts'
import { joinSteps } from '../install/membership.ts'
import { describePlace, type Place } from '../install/place.ts'
import { planTree } from '../install/plan-tree.ts'
import type { SkillRecord } from '../install/record.ts'
import { checkTrust, isUnsignedAllowed, trustBefore } from '../install/trust.ts'
import type { LockEntry } from '../lock/lock-entry.ts'
import { compareSkills, type SkillChanges } from './compare-skills.ts'
import { type FailureReason, toFailedSkill } from './failed-skill.ts'

/** The options of `upgrade`. */
export interface UpgradeRequest {
  /** Names of skills; empty for all. */
  readonly names?: readonly string[] | undefined
  readonly clients?: readonly string[] | undefined
  /** Only returns what would change. */
  readonly preview?: boolean | undefined
  readonly allowRefChange?: boolean | undefined
  readonly allowSignerChange?: boolean | undefined
  readonly allowUnsigned?: boolean | undefined
  /** Called for a skill that only the lock file allows to be unsigned. Without it the skill is refused. */
  readonly confirmUnsigned?: ((names: readonly string[]) => Promise<boolean>) | undefined
  /** Overwrites edited files. */
  readonly force?: boolean | undefined
  /** Called with the planned changes before anything is changed. When it returns false, nothing is changed. */
  readonly confirm?: ((outcomes: readonly UpgradeOutcome[]) => Promise<boolean>) | undefined
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((what: string) => void) | undefined
}

/** The actual or planned outcome for one skill. The members are named as in ToolHive's API. */
export interface UpgradeOutcome {
  name: string
  status:
    | 'upgraded'
    | 'up-to-date'
    | 'not-upgradable'
    | 'ref-change-blocked'
    | 'signer-change-blocked'
    | 'failed'
  old_digest?: string
  new_digest?: string
  new_resolved_reference?: string
  new_signer_identity?: string
  reason?: FailureReason
  error?: string
  changes?: SkillChanges
}

/** An outcome with the fetched skill that would be installed. */
interface Candidate {
  outcome: UpgradeOutcome
  readonly tree?: InstallTree
  readonly allowUnsigned?: boolean
}

export interface UpgradeDeps {
  readonly installations: Installations
  readonly sources: Pick<SkillSources, 'fetch'>
  readonly log: Log
  readonly now: () => Date
}

/** Replaces skills by the present content of their sources. Fails with `skill_not_locked`. */
export function createUpgrade(
  deps: UpgradeDeps,
): (place: Place, request: UpgradeRequest) => Promise<UpgradeOutcome[]> {
  const { installations, log } = deps

  return async (place, request) => {
    const state = await installations.read(place)
    const wanted = choosePins(state, request.names ?? [])
    if (request.clients?.length) await installations.folders.choose(request.clients)
    return installations.withStaging(async staging => {
      const candidates: Candidate[] = []
      for (const pin of wanted) {
        const work = () => findCandidate(deps.sources, { state, pin, staging }, request)
        candidates.push(await attempt(log, pin, request, work))
      }
      const outcomes = candidates.map(({ outcome }) => outcome)
      const ready = candidates.filter(({ outcome }) => outcome.status === 'upgraded')
      if (request.preview || ready.length === 0) return outcomes
      if (request.confirm && !(await request.confirm(outcomes))) return outcomes
      for (const candidate of ready) {
        const { outcome } = candidate
        const pin = state.pins.get(outcome.name)
        if (!pin) continue
        const make = async () => {
          await replace(deps, { place, pin, candidate }, request)
          return candidate
        }
        candidate.outcome = (await attempt(log, pin, request, make)).outcome
      }
      return candidates.map(({ outcome }) => outcome)
    })
  }
}

/** A skill that fails does not stop the others. */
async function attempt(
  log: Log,
  { name, digest }: LockEntry,
  { signal }: UpgradeRequest,
  work: () => Promise<Candidate>,
): Promise<Candidate> {
  signal?.throwIfAborted()
  try {
    return await work()
  } catch (error) {
    if (signal?.aborted) throw error
    log.debug(`upgrade of ${name}`, { stack: error instanceof Error ? error.stack : String(error) })
    return { outcome: { ...toFailedSkill(name, error), status: 'failed', old_digest: digest } }
  }
}

/** Fetches the present content of a skill's source, and decides whether it may replace the installed one. */
async function findCandidate(
  sources: UpgradeDeps['sources'],
  { state, pin, staging }: { state: InstalledState; pin: LockEntry; staging: string },
  request: UpgradeRequest,
): Promise<Candidate> {
  const { signal, progress, allowRefChange, allowSignerChange } = request
  const { name, digest: old_digest, source } = pin
  if (describeReference(source).isPinned) return { outcome: { name, status: 'not-upgradable', old_digest } }
  const pinned = (reference: string) => findPinned(state, reference)
  const typed = isTyped(state, pin)
  const tree = await fetchTree(sources, source, { staging, typed, pinned, signal, progress })
  const { fetched } = tree[0]
  if (fetched.manifest.name !== name) {
    const [locked, found] = [`the name "${name}"`, `"${fetched.manifest.name}"`]
    throw failures.skill_content_changed({ name, locked, found })
  }
  const { digest, resolvedReference, signer } = fetched
  if (digest === old_digest) return { outcome: { name, status: 'up-to-date', old_digest } }
  const facts = {
    ...{ name, old_digest, new_digest: digest },
    ...(resolvedReference ? { new_resolved_reference: resolvedReference } : {}),
    ...(signer ? { new_signer_identity: signer.signerIdentity } : {}),
    changes: await compareSkills(pin, state.records.get(name), fetched),
  }
  if (!allowRefChange && isElsewhere(pin, resolvedReference))
    return { outcome: { ...facts, status: 'ref-change-blocked' } }
  if (!allowSignerChange && signer && facts.changes.signer)
    return { outcome: { ...facts, status: 'signer-change-blocked', reason: 'signer-mismatch' } }
  const record = state.records.get(name)
  const allowUnsigned =
    request.allowUnsigned || (signer === undefined && (await confirmUnsignedUpgrade(pin, record, request)))
  checkTrust(fetched, trustBefore(pin, record), { allowUnsigned, rule: ruleOf(request) })
  return { outcome: { ...facts, status: 'upgraded' }, tree, allowUnsigned }
}

/**
 * A user who agreed to an unsigned skill also agrees to its newer version, which is shown first. A lock file
 * alone does not count as an agreement.
 */
async function confirmUnsignedUpgrade(
  pin: LockEntry,
  record: SkillRecord | undefined,
  { preview, confirmUnsigned }: UpgradeRequest,
): Promise<boolean> {
  if (isUnsignedAllowed(record, pin.digest)) return true
  if (preview || pin.unsigned !== true) return false
  return (await confirmUnsigned?.([pin.name])) ?? false
}

async function replace(
  { installations, now }: UpgradeDeps,
  { place, pin, candidate }: { place: Place; pin: LockEntry; candidate: Candidate },
  request: UpgradeRequest,
): Promise<void> {
  const { tree, allowUnsigned = false } = candidate
  if (!tree) return
  await installations.change(place, async (plan, state) => {
    const { name } = pin
    const present = state.pins.get(name)
    if (present?.digest !== pin.digest) throw failures.skill_changed_meanwhile({ name })
    const has = state.records.get(name)?.clients
    const clients = request.clients?.length ? request.clients : (has ?? [])
    await planTree(plan, state, tree, {
      clients: clients.length
        ? await installations.folders.choose(clients)
        : await installations.folders.choose([]),
      onConflict: request.force ? 'replace' : 'fail',
      ...{ now: now(), replace: true, explicit: false },
      ...{ allowUnsigned, rule: ruleOf(request) },
    })
    for (const { fetched } of tree) {
      if (state.records.has(fetched.manifest.name)) continue
      const steps = await joinSteps(installations.groups, 'default', fetched.manifest.name)
      for (const step of steps) plan.addGroupStep(step)
    }
  })
}

const ruleOf = ({ allowSignerChange }: UpgradeRequest) =>
  allowSignerChange ? ('any-signer' as const) : ('newer-version' as const)

/** Fails with `skill_not_locked`. */
function choosePins({ pins, place, lock }: InstalledState, names: readonly string[]): LockEntry[] {
  if (names.length === 0) return [...pins.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  return [...new Set(names)].map(name => {
    const pin = pins.get(name)
    if (pin) return pin
    const where = lock ? `The lock file ${lock.path}` : `What is installed ${describePlace(place)}`
    throw failures.skill_not_locked({ name, where, near: suggest(name, [...pins.keys()]) })
  })
}

/** Whether the user typed the reference: only that of a skill that they installed by name for themselves. */
const isTyped = ({ place }: InstalledState, { explicit }: LockEntry): boolean =>
  place.scope === 'user' && explicit === true

function isElsewhere({ resolvedReference, source }: LockEntry, found: string | undefined): boolean {
  if (found === undefined) return false
  return describeReference(resolvedReference ?? source).repository !== describeReference(found).repository
}
