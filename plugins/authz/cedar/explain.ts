import type { Clause, PolicyJson } from '@cedar-policy/cedar-wasm/web'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import type { Use } from '../decider.ts'
import { buildCall } from './build-call.ts'
import { findReferences } from './find-references.ts'
import type { CedarPolicies } from './read-cedar.ts'
import type { Place, Policy } from './read-policies.ts'

/** What one policy says of a use. */
export interface PolicyOutcome extends Place {
  readonly id: string
  readonly effect: 'permit' | 'forbid'
  readonly applies: boolean
  /** Why it does not apply. */
  readonly reason?: string
}

/** Evaluates each policy alone, and where it does not apply, each part of it. */
export function explainPolicies(read: CedarPolicies, caller: Caller, use: Use): PolicyOutcome[] {
  return read.policies.map(policy => {
    const reason = whyNot(read, policy, { caller, use })
    return {
      id: policy.id,
      effect: policy.json.effect,
      ...policy.place,
      applies: reason === undefined,
      ...(reason === undefined ? {} : { reason }),
    }
  })
}

const ANY = { op: 'All' } as const

function whyNot(
  { cedar, surroundings, principalOf }: CedarPolicies,
  { json, text }: Policy,
  { caller, use }: { caller: Caller; use: Use },
): string | undefined {
  /** Whether a policy that reads no more than the explained one applies, or why it cannot be evaluated. */
  function applies(policy: PolicyJson | string): boolean | string {
    const slice = {
      id: '',
      references: findReferences([json]),
      nameTests: undefined,
      readsArguments: true,
      readers: () => [],
    }
    const { preparsedPolicySetId: _, ...call } = buildCall(principalOf(caller), use, slice, surroundings)
    const answer = cedar.isAuthorized({ ...call, policies: { staticPolicies: { policy } } })
    if (answer.type === 'failure') return answer.errors.map(({ message }) => message).join('; ')
    const { errors, reason } = answer.response.diagnostics
    return errors[0]?.error.message ?? reason.length > 0
  }
  /** The same of the policy with only some of its parts. */
  const holds = (parts: Partial<PolicyJson>) =>
    applies({ effect: 'permit', principal: ANY, action: ANY, resource: ANY, conditions: [], ...parts })
  /** Cedar reads a policy as JSON only where it is not deep. */
  const fails = (clause: Clause): boolean => {
    try {
      return holds({ conditions: [clause] }) === false
    } catch {
      return false
    }
  }

  const { principal, action, resource, conditions } = json
  if (holds({ principal }) !== true) return 'its principal is another'
  if (holds({ action }) !== true) return 'its action is another'
  if (holds({ resource }) !== true) return 'its resource is another'
  const whole = applies(text)
  if (whole === true) return undefined
  if (typeof whole === 'string') return `it cannot be evaluated: ${whole}`
  const failing = conditions.length > 1 ? conditions.findIndex(fails) : 0
  const { kind } = conditions[failing] ?? {}
  if (!kind) return 'one of its conditions does not hold'
  const count = conditions.length > 1 ? ` (condition ${failing + 1})` : ''
  return kind === 'unless'
    ? `the condition after "unless" is true${count}`
    : `the condition after "when" is false${count}`
}
