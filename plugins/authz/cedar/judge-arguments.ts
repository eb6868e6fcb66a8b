import type { Decision } from '../../../src/contracts/pipeline.ts'
import type { Use } from '../decider.ts'
import { type BlindPolicies, findBlind } from './argument-readers.ts'
import type { PolicySlice } from './policy-slices.ts'
import { unseenArguments } from './to-values.ts'

/** Of an argument, in a reason. */
const LONGEST_NAME = 100

/**
 * Judges a use whose arguments count. An argument that Cedar has no value for looks absent, so policies that look at it
 * cannot be relied on. `judge` decides by the policies of the slice, or by the forbids that it is given alone.
 */
export function judgeArguments(
  use: Use,
  slice: PolicySlice,
  judge: (forbids?: BlindPolicies['forbids']) => Decision,
): Decision {
  const blind = findBlind(slice.argumentReaders, unseenArguments(use.arguments))
  if (!blind) return judge()
  const name = JSON.stringify(blind.argument.slice(0, LONGEST_NAME))
  const reason = `the argument ${name} has a value that policies cannot see`
  if (Object.keys(blind.forbids).length) {
    const denied = judge(blind.forbids)
    if (!denied.isAllowed) return { ...denied, reason }
  }
  const decision = judge()
  const policies = (decision.policies ?? []).filter(id => !blind.permits.includes(id))
  if (!decision.isAllowed || policies.length) return { ...decision, policies }
  return { isAllowed: false, policies: [], reason }
}
