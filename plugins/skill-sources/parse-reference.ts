import { parseOciReference } from '../../src/lib/oci-reference.ts'
import { failures } from './failures.ts'
import { type GitReference, parseGitReference, withoutUser } from './git/git-reference.ts'

/** What users may type to name a skill. */
export type SkillReference =
  | { readonly kind: 'git'; readonly git: GitReference }
  | {
      readonly kind: 'oci'
      /** The reference with registry, repository and tag or digest; undefined when it can only be a registry name. */
      readonly artifact: string | undefined
      /** `namespace/name` may be either; the registry is read when there is no such artifact. */
      readonly qualified: boolean
    }
  | { readonly kind: 'name'; readonly name: string }

/**
 * Parses a reference. One with a URL scheme is Git, another one with `/`, `:` or `@` an artifact, any other
 * a name. `version` is the tag of an artifact without one. Fails with `skill_reference_invalid`.
 */
export function parseSkillReference(text: string, version?: string): SkillReference {
  const fail = (problem: string) =>
    failures.skill_reference_invalid({ reference: withoutUser(text), problem })
  if (text === '') throw fail('it is empty')
  if (/[\s\p{C}]/u.test(text)) throw fail('it has blanks or control characters')
  if (/^(?:git|https?):\/\//i.test(text)) return { kind: 'git', git: parseGitReference(text) }
  const scheme = /^([a-z][a-z0-9+.-]*):(?:\/\/|:)/i.exec(text)?.[1]
  if (scheme) throw fail(`${scheme} is nothing that skills are fetched through`)
  if (/^(?:\.{1,2}|~)?\//.test(text))
    throw fail('it is a path; `keelson skill build` makes a build of a folder')
  if (!/[/:@]/.test(text)) return { kind: 'name', name: text }
  const qualified = /^[^/:@]+\/[^/:@]+$/.test(text)
  const artifact = toArtifact(text, version)
  if (!artifact && !qualified) throw fail('it is not a reference of an artifact')
  return { kind: 'oci', artifact, qualified }
}

/** Completes the reference of an artifact: without a registry it is Docker Hub's, without a tag `version` or latest. */
function toArtifact(text: string, version: string | undefined): string | undefined {
  const parsed = parseOciReference(text)
  if (!parsed) return undefined
  const { registry = 'docker.io', repository, tag, digest } = parsed
  const named = tag ?? (digest ? undefined : (version ?? 'latest'))
  const whole = `${registry}/${repository}${named ? `:${named}` : ''}${digest ? `@${digest}` : ''}`
  return parseOciReference(whole) ? whole : undefined
}
