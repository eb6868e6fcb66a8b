import type { Failure } from '../../../src/errors.ts'
import { redact } from '../../../src/lib/redact.ts'
import type { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { printable } from '../../skill-artifacts/index.ts'
import { failures } from '../failures.ts'
import { type GitReference, toGitText } from './git-reference.ts'
import { tokenAdvice } from './git-tokens.ts'

/** Makes the failure of a fetch: from what the tunnel refused, else from git's messages. */
export function toGitFailure(
  reference: GitReference,
  stderr: string,
  {
    refused,
    ...tokens
  }: {
    refused: FetchProblem | undefined
    env: Readonly<Record<string, string | undefined>>
    typed: boolean
  },
): Failure {
  const { host, repository, ref } = reference
  const at = { reference: toGitText(reference) }
  if (refused) return fromTunnel(at.reference, host, refused)
  if (/Authentication failed|could not read (?:Username|Password)|returned error: 40[13]/.test(stderr)) {
    return failures.skill_source_denied({
      ...at,
      problem: `${host} gives no access to ${repository}, or has no such repository`,
      hint: tokenAdvice(host, tokens),
    })
  }
  if (/couldn't find remote ref|not our ref|unadvertised object/.test(stderr)) {
    return failures.skill_source_missing({
      ...at,
      problem:
        ref === undefined
          ? 'its repository has no default branch, or there is no repository'
          : `its repository has no branch, tag or commit "${ref}"`,
      hint: /^[0-9a-f]{4,39}$/.test(ref ?? '') ? 'A commit is given with all of its 40 digits.' : undefined,
    })
  }
  if (/returned error: 404|repository '.*' not found|remote: Repository not found/i.test(stderr)) {
    return failures.skill_source_missing({ ...at, problem: `${host} has no repository ${repository}` })
  }
  const status = /returned error: (\d{3})/.exec(stderr)?.[1]
  if (status === '429')
    return failures.skill_source_busy({ ...at, problem: `${host} responds with status 429` })
  if (/dumb http transport does not support shallow/.test(stderr)) {
    return failures.skill_source_failed({
      ...at,
      problem: `${host} does not offer git's smart HTTP protocol`,
    })
  }
  return failures.skill_source_failed({
    ...at,
    problem: status ? `${host} responds with status ${status}` : lastWords(stderr),
  })
}

function fromTunnel(reference: string, host: string, problem: FetchProblem): Failure {
  if (problem.kind === 'private') return failures.skill_host_refused({ host, problem: problem.message })
  if (problem.kind === 'timeout') {
    return failures.skill_source_timeout({ reference, problem: problem.message }, { cause: problem })
  }
  return failures.skill_source_failed({ reference, problem: problem.message }, { cause: problem })
}

/** Returns git's own reason, without lines that begin with `remote:`, which the host wrote. */
function lastWords(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).filter(line => /^(?:fatal|error): /.test(line))
  const words = lines.at(-1)?.replace(/^\w+: /, '') ?? 'git gives no reason'
  return `git says: ${printable(redact(words)).replace(/\.$/, '')}`
}
