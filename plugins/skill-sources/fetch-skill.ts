import { type Failure, isFailure } from '../../src/errors.ts'
import type { ImageVerification } from '../image-verification/index.ts'
import { type Oci, pinReference } from '../oci/index.ts'
import type { Registry, SkillEntry } from '../registry/index.ts'
import { type Build, type Builds, isSkillName } from '../skill-artifacts/index.ts'
import { toArtifactFailure } from './artifact-failure.ts'
import { failures } from './failures.ts'
import { fetchArtifact } from './fetch-artifact.ts'
import type { FetchedSkill } from './fetched-skill.ts'
import { findEntry, gitPackageOf, nearNames, packageOf } from './find-entry.ts'
import { fetchGit } from './git/fetch-git.ts'
import { type GitReference, toGitText } from './git/git-reference.ts'
import { parseSkillReference, type SkillReference } from './parse-reference.ts'
import { signerOfArtifact, signerOfCommit } from './skill-signer.ts'
import { withDeadline } from './with-deadline.ts'

export interface FetchSkillDeps {
  readonly oci: Oci
  readonly registry: Pick<Registry, 'skills' | 'isPublic'>
  readonly verification: Pick<ImageVerification, 'signer' | 'detachedSigner'>
  readonly builds: Pick<Builds, 'find' | 'findTag' | 'list' | 'extractTo'>
  /** The environment with tokens, trusted certificates and `KEELSON_PRIVATE_GIT_HOSTS`. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly timeouts: { readonly gitMs: number; readonly ociMs: number }
}

/** A skill to fetch, and the folders for it. */
export interface FetchSkillCall {
  readonly reference: string
  readonly version: string | undefined
  /** Whether the user typed the reference. Only then may their token for its Git host be sent there. */
  readonly typed: boolean
  /** A preview checks no signature. It accepts a local build with any tag, and the repository of a missing artifact. */
  readonly preview: boolean
  /** An empty folder for the files. */
  readonly target: string
  /** An empty folder for temporary files. */
  readonly scratch: string
  readonly signal: AbortSignal | undefined
  readonly progress: ((what: string) => void) | undefined
}

/** A skill whose files are in the target folder and have not been checked. */
export type UncheckedSkill = Pick<FetchedSkill, 'reference' | 'digest' | 'resolvedReference' | 'signer'> & {
  /** The name that SKILL.md must have. */
  readonly name?: string | undefined
}

/** Finds and fetches a skill: repository, artifact, local build, entry of the registry, in this order. */
export async function fetchSkill(deps: FetchSkillDeps, call: FetchSkillCall): Promise<UncheckedSkill> {
  const { reference: text, version } = call
  if (call.preview) {
    const build = await deps.builds.findTag(text)
    if (build) return fromBuild(deps, call, build)
  }
  const reference = parseSkillReference(text, version)
  if (reference.kind === 'git') return fromGit(deps, call, reference.git)
  if (reference.kind === 'oci') return fromArtifactOrEntry(deps, call, reference)
  return fromName(deps, call, reference.name)
}

async function fromGit(
  deps: FetchSkillDeps,
  call: FetchSkillCall,
  git: GitReference,
): Promise<UncheckedSkill> {
  const { typed, target, scratch, progress } = call
  const { commit, object } = await withDeadline(
    { reference: toGitText(git), ms: deps.timeouts.gitMs, signal: call.signal },
    signal => fetchGit(git, { env: deps.env, typed, target, scratch, signal, progress }),
  )
  const resolvedReference = toGitText({ ...git, ref: commit })
  const signer = call.preview ? undefined : await signerOfCommit(deps.verification, resolvedReference, object)
  return { reference: toGitText(git), digest: commit, resolvedReference, ...(signer ? { signer } : {}) }
}

async function fromArtifact(
  deps: FetchSkillDeps,
  call: FetchSkillCall,
  artifact: string,
): Promise<UncheckedSkill> {
  const { oci, verification } = deps
  const { target, scratch, preview, progress } = call
  const limits = { reference: artifact, ms: deps.timeouts.ociMs, signal: call.signal }
  const [repository = ''] = pinReference(artifact, 'x').split('@')
  return withDeadline(limits, async signal => {
    const { digest, name } = await fetchArtifact(artifact, { oci, target, scratch, signal, progress })
    const last = repository.slice(repository.lastIndexOf('/') + 1)
    if (name !== last) {
      const problem = `it calls itself "${name.slice(0, 100)}", and its repository "${last}"`
      throw failures.skill_content_refused({ reference: artifact, problem })
    }
    const resolvedReference = pinReference(artifact, digest)
    if (!preview) progress?.(`checking the signature of ${artifact}`)
    const signer = preview ? undefined : await signerOfArtifact(verification, resolvedReference, signal)
    return { reference: artifact, digest, resolvedReference, name, ...(signer ? { signer } : {}) }
  }).catch(error => {
    throw toArtifactFailure(error, artifact)
  })
}

/** Fetches an artifact. When it does not exist, tries the registry entry of that name and, in a preview, of that artifact. */
async function fromArtifactOrEntry(
  deps: FetchSkillDeps,
  call: FetchSkillCall,
  { artifact, qualified }: Extract<SkillReference, { kind: 'oci' }>,
): Promise<UncheckedSkill> {
  const { reference: name } = call
  let gone: Failure | undefined
  try {
    if (artifact) return await fromArtifact(deps, call, artifact)
  } catch (error) {
    if (!isFailure(error) || !isPullFailure(error)) throw error
    gone = error
  }
  if (qualified) {
    const entries = await deps.registry.skills({ signal: call.signal })
    const entry = findEntry(entries, name)
    if (entry) return fromEntry(deps, call, entry)
    const near = nearNames(
      entries.map(one => `${one.namespace}/${one.name}`),
      name,
    )
    throw gone ?? failures.skill_not_found({ name, near })
  }
  const git = call.preview && artifact ? await repositoryOf(deps, call, artifact) : undefined
  if (git) return fromGit(deps, { ...call, typed: false }, git)
  throw gone
}

const isPullFailure = ({ code }: Failure): boolean => code.startsWith('skill_source_')

/** Returns the Git repository of the only registry entry that has this artifact, with any tag. */
async function repositoryOf(
  deps: FetchSkillDeps,
  call: FetchSkillCall,
  artifact: string,
): Promise<GitReference | undefined> {
  const repository = (reference: string) => pinReference(reference, '')
  const entries = await deps.registry.skills({ signal: call.signal }).catch((): SkillEntry[] => [])
  const found = entries.filter(({ packages = [] }) =>
    packages.some(({ registryType, identifier = '' }) => {
      return registryType === 'oci' && repository(identifier) === repository(artifact)
    }),
  )
  const [only] = found
  return only && found.length === 1 ? gitPackageOf(only) : undefined
}

async function fromName(deps: FetchSkillDeps, call: FetchSkillCall, name: string): Promise<UncheckedSkill> {
  if (!isSkillName(name)) {
    const problem = 'names of skills have 1 to 64 lower-case letters, digits, and single hyphens between them'
    throw failures.skill_reference_invalid({ reference: name, problem })
  }
  const build = await deps.builds.find(name, call.version)
  if (build) return fromBuild(deps, call, build)
  const entries = await deps.registry.skills({ signal: call.signal })
  const entry = findEntry(entries, name)
  if (entry) return fromEntry(deps, call, entry)
  const builds = await deps.builds.list()
  const names = [...entries.map(one => one.name), ...builds.flatMap(one => one.name ?? [])]
  throw failures.skill_not_found({ name, near: nearNames(names, name) })
}

async function fromBuild(
  { builds }: FetchSkillDeps,
  { target, progress }: FetchSkillCall,
  { tag, digest, name }: Build,
): Promise<UncheckedSkill> {
  progress?.(`reading the local build ${tag}`)
  await builds.extractTo(tag, target)
  return { reference: tag, digest, name }
}

async function fromEntry(
  deps: FetchSkillDeps,
  call: FetchSkillCall,
  entry: SkillEntry,
): Promise<UncheckedSkill> {
  const found = packageOf(entry, call.version)
  if (found.kind === 'git') return fromGit(deps, { ...call, typed: false }, found.git)
  const oci = (await deps.registry.isPublic()) ? deps.oci.publicOnly() : deps.oci
  return fromArtifact({ ...deps, oci }, call, found.artifact)
}
