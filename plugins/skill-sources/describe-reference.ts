import { parseOciReference } from '../../src/lib/oci-reference.ts'
import { isCommit, toGitText } from './git/git-reference.ts'
import { parseSkillReference, type SkillReference } from './parse-reference.ts'

/** Which version a reference names. */
export interface ReferenceFacts {
  /** The reference without its version, equal for all references of one repository. */
  readonly repository: string
  /** Whether it names a tag, a branch, a digest or a commit. */
  readonly hasVersion: boolean
  /** Whether it names one unchangeable content: a digest or a commit. */
  readonly isPinned: boolean
}

export function describeReference(reference: string): ReferenceFacts {
  const parsed = tryParse(reference)
  if (parsed?.kind === 'git') {
    const { host, repository, ref, path } = parsed.git
    return {
      repository: toGitText({
        host,
        repository: repository.replace(/\.git$/, ''),
        ...(path === undefined ? {} : { path }),
      }),
      hasVersion: ref !== undefined,
      isPinned: ref !== undefined && isCommit(ref),
    }
  }
  const artifact = parsed?.kind === 'oci' ? parsed.artifact : undefined
  const oci = artifact === undefined ? undefined : parseOciReference(artifact)
  if (!oci) return { repository: reference, hasVersion: false, isPinned: false }
  const typed = parseOciReference(reference)
  return {
    repository: `${oci.registry ?? ''}/${oci.repository}`,
    hasVersion: (typed?.tag ?? typed?.digest) !== undefined,
    isPinned: oci.digest !== undefined,
  }
}

/** Returns a reference that always gets this digest or commit. One without a location is returned unchanged. */
export function pinSkillReference(reference: string, digest: string): string {
  const parsed = tryParse(reference)
  if (parsed?.kind === 'git' && isCommit(digest)) return toGitText({ ...parsed.git, ref: digest })
  const artifact = parsed?.kind === 'oci' ? parsed.artifact : undefined
  const oci = artifact === undefined ? undefined : parseOciReference(artifact)
  return oci && digest.startsWith('sha256:') ? `${oci.registry ?? ''}/${oci.repository}@${digest}` : reference
}

function tryParse(reference: string): SkillReference | undefined {
  try {
    return parseSkillReference(reference)
  } catch {
    return undefined // a lock file's source may be of a kind that this version does not know
  }
}
