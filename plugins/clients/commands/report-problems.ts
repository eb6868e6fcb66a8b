import { type Failure, isFailure } from '../../../src/errors.ts'

/**
 * Prints why entries could not be written. Returns the exit code: 1 when one of these clients is concerned,
 * else 0.
 */
export function reportProblems(
  problems: readonly Error[],
  ids: readonly string[],
  say: (line: string) => void,
): number {
  for (const problem of problems) {
    const hint = isFailure(problem) ? problem.hint : undefined
    say(`Warning: ${[problem.message, hint].filter(Boolean).join(' ')}`)
  }
  return problems.some(problem => isFailure(problem) && ids.includes(clientOf(problem))) ? 1 : 0
}

const clientOf = ({ details }: Failure): string =>
  typeof details === 'object' && details !== null && 'client' in details ? String(details.client) : ''
