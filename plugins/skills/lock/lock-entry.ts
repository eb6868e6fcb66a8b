import { bool, type ObjectOf, object, optional, text, texts } from '../../../src/lib/schema.ts'
import { findErrors } from '../../../src/schema-check.ts'
import { isSkillName } from '../../skill-artifacts/index.ts'
import { describeReference, skillSigner } from '../../skill-sources/index.ts'

/** The members in the order in which they are written. Other members are kept after them. */
const members = {
  name: text,
  version: optional(text),
  /** The reference as it was typed. It is never changed. */
  source: text,
  /** The reference of the same content by digest or commit. */
  resolvedReference: optional(text),
  digest: text,
  contentDigest: optional(text),
  provenance: optional(skillSigner),
  unsigned: optional(bool),
  requiredBy: optional(texts),
  explicit: optional(bool),
}

/** One skill of a lock file, with the members of the file. */
export interface LockEntry extends ObjectOf<typeof members> {}

export const ENTRY_FIELDS = Object.keys(members) as (keyof LockEntry)[]

const schema = object(members)

const DIGEST = /^(sha256:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{64})$/
const CONTENT_DIGEST = /^sha256:[0-9a-f]{64}$/
const LONGEST = 512

/** Returns what is wrong with one entry; undefined when it is a LockEntry. */
export function entryProblem(value: unknown): string | undefined {
  const problem = findErrors(schema, value)
  if (problem !== undefined) return problem
  const entry: LockEntry = value as LockEntry
  const { name, source, resolvedReference, digest, contentDigest, provenance, unsigned } = entry
  if (!isSkillName(name)) return `"${shown(name)}" is not a name for a skill`
  const wrong = (what: string) => `${what} of "${name}"`
  if (source === '') return wrong('there is no source')
  if (!DIGEST.test(digest)) return `${wrong('the digest')} is neither sha256 nor a commit`
  if (contentDigest !== undefined && !CONTENT_DIGEST.test(contentDigest))
    return `${wrong('the contentDigest')} is not a sha256 digest`
  if (resolvedReference !== undefined && !isReference(resolvedReference))
    return `${wrong('the resolvedReference')} is not a reference with a tag, digest or commit`
  if (provenance && unsigned) return `"${name}" has both provenance and unsigned`
  if (provenance) {
    const { signerIdentity, certIssuer } = provenance
    if (!signerIdentity || !certIssuer) return `${wrong('the provenance')} names no signer`
    if (Math.max(Buffer.byteLength(signerIdentity), Buffer.byteLength(certIssuer)) > LONGEST)
      return `${wrong('the provenance')} has a text of more than ${LONGEST} bytes`
  }
  return undefined
}

/** Returns what is wrong with all entries together: repeated names, missing parents, circles. */
export function graphProblem(entries: readonly LockEntry[]): string | undefined {
  const names = entries.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice) return `"${twice}" is there twice`
  const parents = new Map(entries.map(({ name, requiredBy = [] }) => [name, requiredBy]))
  for (const [name, list] of parents) {
    for (const parent of list) {
      if (parent === name) return `"${name}" is required by itself`
      if (!parents.has(parent)) return `"${name}" is required by "${shown(parent)}", which is not there`
    }
  }
  const done = new Set<string>()
  const isCircle = (name: string, way: readonly string[]): boolean => {
    if (way.includes(name)) return true
    if (done.has(name)) return false
    const found = (parents.get(name) ?? []).some(parent => isCircle(parent, [...way, name]))
    done.add(name)
    return found
  }
  const inCircle = names.find(name => isCircle(name, []))
  return inCircle ? `"${inCircle}" is required in a circle` : undefined
}

/** Git references may lack a version, because ToolHive writes some without one. */
function isReference(text: string): boolean {
  if (Buffer.byteLength(text) > LONGEST || !/^[\x21-\x7e]+$/.test(text)) return false
  const { repository, hasVersion } = describeReference(text)
  return repository.startsWith('git://') || hasVersion
}

const shown = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)
