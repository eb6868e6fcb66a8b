import type { Decision } from '../../../src/contracts/pipeline.ts'
import { type AttributeReader, type BlindPolicies, findBlind, type Unseen } from './attribute-readers.ts'

/**
 * Judges a use by a caller. A claim or an argument that Cedar has no value for looks absent, so policies that look at it
 * cannot be relied on. `judge` decides by all policies, or by the forbids that it is given alone.
 */
export function judgeUnseen(
  unseen: Unseen,
  readers: () => readonly AttributeReader[],
  judge: (forbids?: BlindPolicies['forbids']) => Decision,
): Decision {
  const blind = unseen.size ? findBlind(readers(), unseen) : undefined
  if (!blind) return judge()
  const reason = `${blind.what} has a value that policies cannot see`
  if (Object.keys(blind.forbids).length) {
    const denied = judge(blind.forbids)
    if (!denied.isAllowed) return { ...denied, reason }
  }
  const decision = judge()
  const policies = (decision.policies ?? []).filter(id => !blind.permits.includes(id))
  if (!decision.isAllowed || policies.length) return { ...decision, policies }
  return { isAllowed: false, policies: [], reason }
}
