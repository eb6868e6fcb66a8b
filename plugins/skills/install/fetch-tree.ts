import type { FetchedSkill, SkillSources } from '../../skill-sources/index.ts'
import { failures } from '../failures.ts'

/** A fetched skill with its place in the tree of requirements. */
export interface TreeSkill {
  readonly fetched: FetchedSkill
  /** The reference as the user, or the skill that needs it, wrote it. */
  readonly source: string
  /** Names of the fetched skills that need it. */
  readonly requiredBy: readonly string[]
  /** Names of the skills that it needs. */
  readonly requires: readonly string[]
}

/** The requested skill first, then those that it needs, directly or indirectly. */
export type InstallTree = readonly [root: TreeSkill, ...rest: TreeSkill[]]

const MOST_REQUIRED = 100

/**
 * Fetches a skill and all that it needs into the staging folder. Installs nothing.
 * Fails with `skill_cycle`, `skill_conflict` or `skill_requires_too_many`.
 */
export async function fetchTree(
  sources: Pick<SkillSources, 'fetch'>,
  source: string,
  options: {
    readonly staging: string
    /** Whether the user typed the source. The author of a skill wrote the references that it needs. */
    readonly typed: boolean
    readonly version?: string | undefined
    /** Returns the pin of a needed skill that is installed or locked already. */
    readonly pinned: (reference: string) => string | undefined
    readonly signal?: AbortSignal | undefined
    readonly progress?: ((what: string) => void) | undefined
  },
): Promise<InstallTree> {
  const { staging, typed, version, pinned, signal, progress } = options
  const fetched = new Map<string, FetchedSkill>()
  const found = new Map<string, TreeSkill & { requiredBy: string[]; requires: string[] }>()

  async function fetch(reference: string): Promise<FetchedSkill> {
    const known = fetched.get(reference)
    if (known) return known
    const isRoot = found.size === 0
    const skill = await sources.fetch(isRoot ? reference : (pinned(reference) ?? reference), {
      ...{ staging, typed: typed && isRoot, signal, progress },
      ...(isRoot && version ? { version } : {}),
    })
    fetched.set(reference, skill)
    return skill
  }

  /** Goes depth first: a known skill that is not on the current path is complete. */
  async function visit(reference: string, way: readonly string[]): Promise<string> {
    signal?.throwIfAborted()
    const skill = await fetch(reference)
    const { name, requires } = skill.manifest
    if (way.includes(name)) throw failures.skill_cycle({ path: [...way.slice(way.indexOf(name)), name] })
    const parent = way.at(-1)
    const before = found.get(name)
    if (before) {
      if (before.fetched.digest !== skill.digest) throw conflict(name, parent, skill, before.fetched)
      if (parent && !before.requiredBy.includes(parent)) before.requiredBy.push(parent)
      return name
    }
    if (found.size > MOST_REQUIRED)
      throw failures.skill_requires_too_many({ name: way[0] ?? name, most: MOST_REQUIRED })
    const node = { fetched: skill, source: reference, requiredBy: parent ? [parent] : [], requires: [] }
    const names: string[] = node.requires
    found.set(name, node)
    for (const needed of requires) {
      const child = await visit(needed, [...way, name])
      if (!names.includes(child)) names.push(child)
    }
    return name
  }

  await visit(source, [])
  const [root, ...rest] = found.values()
  if (!root) throw new Error('nothing was fetched')
  return [root, ...rest]
}

const conflict = (name: string, parent: string | undefined, wanted: FetchedSkill, present: FetchedSkill) =>
  failures.skill_conflict({
    name,
    parent: parent ?? name,
    wanted: wanted.reference,
    present: present.reference,
  })
