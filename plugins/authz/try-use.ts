import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { Decision } from '../../src/contracts/pipeline.ts'
import type { Log } from '../../src/log.ts'
import type { PolicyOutcome } from './cedar/explain.ts'
import type { Use } from './decider.ts'
import { openDecider } from './open-decider.ts'
import { readConfigFile } from './parse-config.ts'

export interface Explanation {
  readonly decision: Decision
  /** What each policy says; undefined where a decision point decides. */
  readonly policies: readonly PolicyOutcome[] | undefined
}

/** Decides about a use as a workload with this file would, and says why. */
export async function tryUse(
  file: string,
  { caller, use, server, log }: { caller: Caller; use: Use; server: string; log: Log },
): Promise<Explanation> {
  const source = await readConfigFile(file)
  const { cedar } = source.authz
  const decider = await openDecider(source, { server, log })
  try {
    const decision = await decider.decide(caller, use, new AbortController())
    if (!cedar) return { decision, policies: undefined }
    const [{ readCedar }, { explainPolicies }] = await Promise.all([
      import('./cedar/read-cedar.ts'),
      import('./cedar/explain.ts'),
    ])
    return { decision, policies: explainPolicies(await readCedar(cedar, { server, source }), caller, use) }
  } finally {
    decider.close()
  }
}
