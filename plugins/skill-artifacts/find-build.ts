import { isFailure } from '../../src/errors.ts'
import { toBuildTag } from './build-tag.ts'
import { failures } from './failures.ts'

/** An artifact that was built here. */
export interface Build {
  readonly tag: string
  /** Of its index. */
  readonly digest: string
  readonly name?: string
  readonly description?: string
  readonly version?: string
}

/**
 * Chooses a build: the one with this tag, else the one of the skill with this name, of the version wanted
 * or under a tag that is called like it. See `Builds.find`.
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

/** The tag that is meant; what cannot be a tag is left as it is, and is none that is there. */
export function wantedTag(text: string): string {
  try {
    return toBuildTag(text)
  } catch (error) {
    if (!isFailure(error, 'skill_tag_invalid')) throw error
    return text
  }
}
