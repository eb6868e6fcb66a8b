import { beforeEach, expect, type TestContext } from 'vitest'

/** Leaves the test out for a reason that no set-up removes. `npm test` prints the reason at its end. */
export function leaveOut(context: TestContext, reason: string): never {
  return context.skip(reason)
}

/** Leaves the test out where something is missing; where CI is set, the test fails. */
export function needs(context: TestContext, problem: string | undefined): void {
  if (problem === undefined) return
  if (process.env.CI) expect.fail(problem)
  leaveOut(context, problem)
}

/** The same for all tests of a file or of a `describe`. */
export function allNeed(problem: string | undefined): void {
  beforeEach(context => needs(context, problem))
}

/** Why nothing can run as another user of this machine; undefined where it can. */
export function otherUsersProblem(): string | undefined {
  if (process.platform === 'linux' && process.getuid?.() === 0) return undefined
  return 'only root can run programs as other users (Linux)'
}
