import { parseOciReference } from '../../src/lib/oci-reference.ts'
import { failures } from './failures.ts'

const BARE = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/

/**
 * Returns the tag under which a build is kept: a bare tag as it is, or a whole reference with registry and
 * tag (`latest` when it has none), which `skill push` pushes to. Fails with `skill_tag_invalid`.
 */
export function toBuildTag(text: string): string {
  const refuse = (problem: string) => failures.skill_tag_invalid({ tag: text.slice(0, 200), problem })
  if (!/[/:@]/.test(text)) {
    if (!BARE.test(text)) throw refuse('it has characters that a tag cannot have, or is too long')
    return text
  }
  const reference = parseOciReference(text)
  if (!reference) throw refuse('it is not a reference of the form REGISTRY/REPOSITORY:TAG')
  if (!reference.registry) throw refuse('it does not name the registry, as in ghcr.io/me/my-skill:1.0')
  if (reference.digest) throw refuse('it has a digest, which only the content can give')
  return reference.tag ? text : `${text}:latest`
}

/** Returns the last part of a reference's repository; undefined for a bare tag. */
export const repositoryName = (tag: string): string | undefined =>
  /[/:@]/.test(tag) ? parseOciReference(tag)?.repository.split('/').at(-1) : undefined
