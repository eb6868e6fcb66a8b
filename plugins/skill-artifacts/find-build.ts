import { isFailure } from '../../src/errors.ts'
import { toBuildTag } from './build-tag.ts'
import { failures } from './failures.ts'

/** A skill artifact that was built on this machine. */
export interface Build {
  readonly tag: string
  /** The digest of its index. */
  readonly digest: string
  readonly name?: string
  readonly description?: string
  readonly version?: string
}

/**
 * Chooses a build: the one with this tag, else the one of the skill with this name whose version, or whose
 * tag, is the wanted version. See `Builds.find`.
 */
export function findBuild(all: readonly Build[], tagOrName: string, version?: string): Build | undefined {
  const tag = wantedTag(tagOrName)
  const tagged = all.find(build => build.tag === tag)
  if (/[/:@]/.test(tagOrName)) return tagged
  if (tagged && (!version || tagged.version === version)) {
    if (tagged.name === tagOrName) return tagged
    throw failures.skill_build_other({ tag, name: tagged.name ?? 'another skill' })
  }
  const [only, ...more] = all.filter(
    ({ name, ...build }) => name === tagOrName && (!version || [build.version, build.tag].includes(version)),
  )
  if (!only || more.length === 0) return only
  throw failures.skill_build_ambiguous({ name: tagOrName, tags: [only, ...more].map(build => build.tag) })
}

/** Returns the tag that a text stands for. A text that cannot be a tag is returned unchanged and matches no build. */
export function wantedTag(text: string): string {
  try {
    return toBuildTag(text)
  } catch (error) {
    if (!isFailure(error, 'skill_tag_invalid')) throw error
    return text
  }
}
