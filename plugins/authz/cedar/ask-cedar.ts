import type { PolicyJson, StatefulAuthorizationCall } from '@cedar-policy/cedar-wasm/web'
import type { Decision } from '../../../src/contracts/pipeline.ts'
import type { Log } from '../../../src/log.ts'
import type { BlindPolicies } from './attribute-readers.ts'
import type { Cedar } from './load-cedar.ts'
import type { Policy } from './read-policies.ts'

/** Puts a question to Cedar. With `forbids`, these alone decide, and all else is allowed. */
export type AskCedar = (call: StatefulAuthorizationCall, forbids?: BlindPolicies['forbids']) => Decision

/** A question that Cedar refuses is denied, and logged. */
export function createAsk({
  cedar,
  policies,
  log,
}: {
  cedar: Cedar
  policies: readonly Policy[]
  log: Log
}): AskCedar {
  const isForbid = new Map(policies.map(({ id, json }) => [id, json.effect === 'forbid']))
  return (call, forbids) => {
    const answer = forbids
      ? cedar.isAuthorized({
          ...withoutSet(call),
          policies: { staticPolicies: { ...forbids, '': PERMIT_ALL } },
        })
      : cedar.statefulIsAuthorized(call)
    if (answer.type === 'failure') {
      log.warn('policies could not decide on a call', {
        problem: answer.errors.map(e => e.message).join('; '),
      })
      return { isAllowed: false, policies: [] }
    }
    const { decision, diagnostics } = answer.response
    // A permit that cannot be evaluated permits nothing; nobody knows what such a forbid would have said.
    const broken = diagnostics.errors.map(({ policyId }) => policyId).filter(id => isForbid.get(id) !== false)
    return broken.length
      ? { isAllowed: false, policies: broken }
      : { isAllowed: decision === 'allow', policies: diagnostics.reason.toSorted() }
  }
}

const ANY = { op: 'All' } as const
const PERMIT_ALL: PolicyJson = {
  effect: 'permit',
  principal: ANY,
  action: ANY,
  resource: ANY,
  conditions: [],
}

const withoutSet = ({ preparsedPolicySetId: _, ...call }: StatefulAuthorizationCall) => call
