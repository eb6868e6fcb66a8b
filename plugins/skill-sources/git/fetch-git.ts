import { failures } from '../failures.ts'
import { toGitFailure } from './git-failure.ts'
import { type GitAddress, locateRepository } from './git-host.ts'
import { createGit, type Git } from './git-program.ts'
import { type GitReference, isCommit, toGitText } from './git-reference.ts'
import { findSkillFolders, GitTreeProblem, listGitFolder, writeGitFiles } from './git-tree.ts'
import { type GitTunnel, openGitTunnel } from './git-tunnel.ts'

/** A skill that was written from a Git repository. Nothing of it was run. */
export interface FetchedCommit {
  readonly commit: string
  /** The commit object, which holds the signature. */
  readonly object: Buffer
}

export interface GitFetch {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether the user typed the reference. Tokens are sent only then. */
  readonly typed: boolean
  /** An empty folder for the files. */
  readonly target: string
  /** An empty folder for the repository. */
  readonly scratch: string
  readonly signal: AbortSignal
  readonly progress?: ((what: string) => void) | undefined
}

/** Most bytes that one fetch receives. */
const MAX_BYTES = 100 * 1024 * 1024
const FETCHED = 'refs/keelson/fetched'

/**
 * Fetches a folder of a repository. The ref is resolved to a commit once and only that commit is read, so
 * a branch that moves meanwhile changes nothing.
 */
export async function fetchGit(reference: GitReference, options: GitFetch): Promise<FetchedCommit> {
  const { env, typed, target, scratch, signal } = options
  const address = locateRepository(reference, { env, typed })
  const tunnel = await openGitTunnel({ ...address, maxBytes: MAX_BYTES })
  try {
    const git = createGit({ ...address, folder: scratch, env, proxy: tunnel.proxy, signal })
    const commit = await fetchCommit(git, reference, address, tunnel, options)
    options.progress?.(`reading ${toGitText(reference)}`)
    await readFolder(git, reference, commit, target)
    const { stdout } = await must(git(['cat-file', 'commit', commit]))
    return { commit, object: stdout }
  } finally {
    await tunnel.close()
  }
}

async function fetchCommit(
  git: Git,
  reference: GitReference,
  { url }: GitAddress,
  tunnel: GitTunnel,
  { env, typed, progress }: GitFetch,
): Promise<string> {
  const { ref = 'HEAD' } = reference
  const text = toGitText(reference)
  progress?.(`fetching ${text}`)
  const onLine = (line: string) => {
    const percent = /^Receiving objects:\s+(\d+%)/.exec(line)?.[1]
    if (percent) progress?.(`fetching ${text}: ${percent}`)
  }
  const fetch = (what: readonly string[], depth: readonly string[]) =>
    git(['fetch', '--progress', '--no-tags', '--no-recurse-submodules', '--force', ...depth, url, ...what], {
      onLine,
    })
  const format = ref.length === 64 && isCommit(ref) ? ['--object-format=sha256'] : []
  await must(git(['init', '--bare', '--quiet', '--template=', ...format]))
  let result = await fetch([`${ref}:${FETCHED}`], ['--depth=1'])
  if (!result.ok && isCommit(ref) && /not our ref|unadvertised object/.test(result.stderr)) {
    // Some hosts send a commit only with the branches and tags that contain it.
    result = await fetch(['refs/heads/*:refs/keelson/heads/*', 'refs/tags/*:refs/keelson/tags/*'], [])
  }
  if (!result.ok) throw toGitFailure(reference, result.stderr, { refused: tunnel.problem(), env, typed })
  const name = isCommit(ref) ? ref : FETCHED
  const found = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`])
  const commit = found.stdout.toString('utf8').trim()
  if (found.ok && isCommit(commit) && (!isCommit(ref) || commit === ref)) return commit
  throw failures.skill_source_missing({ reference: text, problem: `its repository has no commit ${ref}` })
}

async function readFolder(git: Git, reference: GitReference, commit: string, target: string): Promise<void> {
  const text = toGitText(reference)
  try {
    const files = await listGitFolder(git, commit, reference.path)
    if (!files.some(({ path }) => path === 'SKILL.md')) {
      const others = await findSkillFolders(git, commit)
      const where = reference.path ?? 'the top folder'
      const problem = files.length ? `there is no SKILL.md in ${where}` : `there is no folder ${where}`
      const hint = others.length ? `It has skills in ${others.join(', ')}: add #FOLDER.` : undefined
      throw failures.skill_content_refused({ reference: text, problem, hint })
    }
    await writeGitFiles(git, files, target)
  } catch (error) {
    if (!(error instanceof GitTreeProblem)) throw error
    throw failures.skill_content_refused({ reference: text, problem: error.message })
  }
}

/** Runs a git command that can only fail when git itself does not work. */
async function must(running: ReturnType<Git>): ReturnType<Git> {
  const result = await running
  if (!result.ok) throw new Error(`git failed: ${result.stderr.trim().slice(-500)}`)
  return result
}
