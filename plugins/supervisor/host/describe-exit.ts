import type { Exit, Instance } from '../../../src/contracts/runtime.ts'

/** How an instance exited, for a person. */
export function describeExit({ code, reason }: Exit): string {
  const exit = code === undefined ? '' : `exit code ${code}`
  return [reason, exit].filter(Boolean).join(', ') || 'its streams closed'
}

export const describeInstance = ({ state, exitCode, reason }: Instance): string =>
  state === 'exited'
    ? describeExit({ ...(exitCode === undefined ? {} : { code: exitCode }), ...(reason ? { reason } : {}) })
    : reason
      ? `${state}: ${reason}`
      : state
