import type { FetchedSkill } from '../../skill-sources/index.ts'
import { failures } from '../failures.ts'
import type { LockEntry } from '../lock/lock-entry.ts'
import type { InstallTree, TreeSkill } from './fetch-tree.ts'
import { type FileHashes, fileHashes } from './file-hashes.ts'
import { type InstalledState, toPin } from './installed-state.ts'
import { forNeeded, isReplacing, type OnConflict } from './on-conflict.ts'
import type { Plan } from './plan.ts'
import { authorOf, type Dependency, type SkillRecord } from './record.ts'
import { checkTrust, isUnsignedAllowed, type SignerRule, type Trust, trustBefore } from './trust.ts'

/** How a skill and those it needs are planned. */
export interface PlanOptions {
  readonly onConflict: OnConflict
  /** The clients to install it for, besides those that have it already. */
  readonly clients: readonly string[]
  /** Whether another installed version of the requested skill is replaced. */
  readonly replace: boolean
  readonly allowUnsigned: boolean
  readonly rule: SignerRule
  /** Whether it was requested by name. */
  readonly explicit: boolean
  /** Whether the pin stays as it is. */
  readonly keepPins?: boolean
  readonly version?: string | undefined
  readonly now: Date
}

/**
 * Plans the change of each skill of a tree. Fails before anything is changed when a skill cannot be
 * installed: its signer changed, another version is installed, or it was edited.
 */
export async function planTree(
  plan: Plan,
  state: InstalledState,
  tree: InstallTree,
  options: PlanOptions,
): Promise<SkillRecord> {
  const [root, ...rest] = tree
  const inTree = new Map(tree.map(({ fetched }) => [fetched.manifest.name, fetched]))
  // Needed skills come first, so that a client never sees a skill without them.
  for (const skill of rest) {
    const node: Node = { skill, inTree, isRoot: false }
    assertSameVersion(state, node, options)
    const onConflict = forNeeded(options.onConflict)
    await planOne(plan, state, node, { ...options, rule: 'newer-version', onConflict })
  }
  const node: Node = { skill: root, inTree, isRoot: true }
  assertSameVersion(state, node, options)
  const record = await planOne(plan, state, node, options)
  for (const { fetched, requires } of tree)
    await plan.removeUnneeded(fetched.manifest.name, requires, options.onConflict)
  return record
}

/** A skill in its tree. */
interface Node {
  readonly skill: TreeSkill
  readonly inTree: ReadonlyMap<string, FetchedSkill>
  readonly isRoot: boolean
}

function assertSameVersion(
  { pins, records }: InstalledState,
  { skill: { fetched, requiredBy }, isRoot }: Node,
  { onConflict, replace }: PlanOptions,
): void {
  const { name } = fetched.manifest
  const present = pins.get(name) ?? records.get(name)
  if (!present || present.digest === fetched.digest) return
  if (isReplacing(onConflict) || (isRoot && replace)) return
  if (isRoot) {
    throw failures.skill_other_version({
      name,
      installed: describe(present.version, present.digest),
      found: describe(fetched.manifest.version, fetched.digest),
    })
  }
  throw failures.skill_conflict({
    name,
    parent: requiredBy[0] ?? name,
    wanted: fetched.reference,
    present: present.source,
  })
}

async function planOne(
  plan: Plan,
  { pins, records }: InstalledState,
  node: Node,
  options: PlanOptions,
): Promise<SkillRecord> {
  const { fetched } = node.skill
  const { name } = fetched.manifest
  const before = records.get(name)
  const pin = pins.get(name)
  const known = trustBefore(pin, before)
  // A workflow may have signed another version at another tag.
  const isOfRecord = known === before && before?.digest !== fetched.digest
  const trust = checkTrust(fetched, known, {
    allowUnsigned: options.allowUnsigned || isUnsignedAllowed(before, fetched.digest),
    rule: isOfRecord && options.rule === 'same-content' ? 'newer-version' : options.rule,
  })
  const needed = (name: string): Dependency | undefined => {
    const [fresh, locked] = [node.inTree.get(name), pins.get(name)]
    if (fresh) return { name, reference: fresh.reference, digest: fresh.digest }
    return locked && { name, reference: locked.resolvedReference ?? locked.source, digest: locked.digest }
  }
  const files = (await fileHashes(fetched.folder)) ?? {}
  const record = toRecord(node, options, { trust, before, pin, files, needed })
  await plan.install(record, fetched.folder, options.onConflict)
  if (!options.keepPins) plan.pin(toPin(record))
  return record
}

function toRecord(
  { skill, isRoot }: Node,
  options: PlanOptions,
  facts: {
    trust: Trust
    before: SkillRecord | undefined
    pin: LockEntry | undefined
    files: FileHashes
    needed: (name: string) => Dependency | undefined
  },
): SkillRecord {
  const { trust, before, pin, files, needed } = facts
  const { manifest, reference, digest, resolvedReference, contentDigest } = skill.fetched
  const isSame = pin?.digest === digest
  const stays = isSame && before?.digest === digest ? before : undefined
  return {
    name: manifest.name,
    version: (isRoot ? options.version : undefined) ?? manifest.version ?? '',
    description: manifest.description,
    author: authorOf(manifest),
    source:
      pin && keepsSource(pin, { isSame, isRoot, explicit: options.explicit }) ? pin.source : skill.source,
    reference: stays?.reference ?? reference,
    ...(resolvedReference ? { resolved_reference: resolvedReference } : {}),
    digest,
    content_digest: contentDigest,
    status: 'installed',
    installed_at: stays?.installed_at ?? options.now.toISOString(),
    clients: [...new Set([...(before?.clients ?? []), ...options.clients])],
    dependencies:
      stays && stays.dependencies.length === skill.requires.length
        ? stays.dependencies
        : skill.requires.flatMap(name => needed(name) ?? []),
    allowed_tools: [...manifest.allowedTools],
    files,
    ...(trust.provenance ? { provenance: trust.provenance } : {}),
    ...(trust.unsigned ? { unsigned: true } : {}),
    required_by: [...new Set([...(pin?.requiredBy ?? []), ...skill.requiredBy])].sort(),
    explicit: (isRoot && options.explicit) || pin?.explicit === true,
  }
}

/** Keeps the reference that the user typed. One that another skill gave is replaced when the user types one. */
const keepsSource = (
  pin: LockEntry,
  { isSame, isRoot, explicit }: { isSame: boolean; isRoot: boolean; explicit: boolean },
): boolean => (isRoot && explicit ? isSame && pin.explicit === true : isSame || isRoot)

const describe = (version: string | undefined, digest: string): string =>
  `${version ? `${version} (` : ''}${digest.replace(/^sha256:/, '').slice(0, 12)}${version ? ')' : ''}`
