import { suggest } from '../../src/lib/suggest.ts'
import type { SkillEntry } from '../registry/index.ts'
import { failures } from './failures.ts'
import { type GitReference, parseGitReference, toGitText } from './git/git-reference.ts'
import { parseSkillReference } from './parse-reference.ts'

/** Where a registry entry says that a skill is. */
export type EntryPackage =
  | { readonly kind: 'oci'; readonly artifact: string }
  | { readonly kind: 'git'; readonly git: GitReference }

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const fullName = ({ namespace, name }: SkillEntry): string => `${namespace}/${name}`

/** Finds the entry of a name, or of `namespace/name`; case does not matter. Fails with `skill_ambiguous`. */
export function findEntry(entries: readonly SkillEntry[], name: string): SkillEntry | undefined {
  const found = entries.filter(entry => same(name.includes('/') ? fullName(entry) : entry.name, name))
  if (found.length > 1) throw failures.skill_ambiguous({ name, candidates: found.map(fullName) })
  return found[0]
}

/** Returns at most three names that a mistyped name is similar to. */
export function nearNames(names: readonly string[], name: string): string[] {
  const word = name.toLowerCase()
  const near = [...new Set(names)].filter(
    other => suggest(name, [other]) !== undefined || (word.length > 2 && other.toLowerCase().includes(word)),
  )
  const [best] = [suggest(name, near)]
  return [...new Set([...(best ? [best] : []), ...near])].slice(0, 3)
}

/**
 * Returns what to fetch for an entry: its artifact, else its repository, each as the entry pins it (a
 * digest; a commit or a ref). Fails with `skill_package_missing` when it has neither, and with
 * `skill_version_missing` when another version is wanted and the entry has no tagged artifact.
 */
export function packageOf(entry: SkillEntry, version: string | undefined): EntryPackage {
  const { packages = [] } = entry
  const name = fullName(entry)
  const isOther = version !== undefined && version !== entry.version
  const artifact = packages.find(one => one.registryType === 'oci' && one.identifier)
  if (artifact?.identifier) {
    const reference = parseSkillReference(
      isOther ? withoutTag(artifact.identifier) : artifact.identifier,
      version,
    )
    if (reference.kind === 'oci' && reference.artifact) {
      const pin = isOther || !artifact.digest || reference.artifact.includes('@') ? '' : `@${artifact.digest}`
      return { kind: 'oci', artifact: `${reference.artifact}${pin}` }
    }
  }
  const git = gitPackageOf(entry)
  if (!git) throw failures.skill_package_missing({ name })
  if (isOther) throw failures.skill_version_missing({ name, version, there: entry.version })
  return { kind: 'git', git }
}

/** Returns the repository of an entry; undefined when it has none. */
export function gitPackageOf({ packages = [] }: SkillEntry): GitReference | undefined {
  const found = packages.find(one => one.registryType === 'git' && one.url)
  if (!found?.url) return undefined
  const { host, repository } = parseGitReference(found.url)
  const ref = found.commit ?? found.ref?.replace(/^refs\/(?:heads|tags)\//, '')
  // Written as text and parsed again, so that entries are checked as what users type.
  return parseGitReference(
    toGitText({
      host,
      repository,
      ...(ref ? { ref } : {}),
      ...(found.subfolder ? { path: found.subfolder } : {}),
    }),
  )
}

const withoutTag = (identifier: string): string => identifier.replace(/@.*$/, '').replace(/:[^:/]*$/, '')
