import type { Decision } from '../../../src/contracts/pipeline.ts'
import { messageOf } from '../../../src/errors.ts'
import type { Log } from '../../../src/log.ts'
import type { CedarConfig } from '../authz-config.ts'
import type { AuthzSource } from '../authz-source.ts'
import { type Decider, HINTS, type Use } from '../decider.ts'
import { createAsk } from './ask-cedar.ts'
import type { BlindPolicies } from './attribute-readers.ts'
import { actionOf, buildCall, isAnonymous, resourceOf } from './build-call.ts'
import { judgeUnseen } from './judge-unseen.ts'
import { createPolicySlices, type PolicySlice } from './policy-slices.ts'
import type { Principal } from './principal.ts'
import { readCedar } from './read-cedar.ts'
import { unseenArguments } from './to-values.ts'

/** Decisions that are kept; all are forgotten when there are more. */
const MOST_KEPT = 5000
const LONGEST_KEY = 4096

/**
 * Decides by policies in Cedar. Fails with `authz_config_invalid` where they cannot be read. A decision depends on the
 * question alone, so the same question gets the decision that was made before.
 */
export async function openCedarDecider(
  config: CedarConfig,
  { server, source, log }: { server: string; source: Pick<AuthzSource, 'where' | 'locate'>; log: Log },
): Promise<Decider> {
  const { cedar, policies, surroundings, principalOf } = await readCedar(config, { server, source })
  const ask = createAsk({ cedar, policies, log })
  const slices = createPolicySlices(cedar, policies, {
    hasActions: (config.entities_json ?? '').includes('Action'),
  })
  const kept = new Map<string, Decision>()
  /** By who asks, and the key of what is asked for where arguments do not count. */
  const withoutArguments = new WeakMap<Principal, Map<string, Decision>>()

  function decideOnce(principal: Principal, use: Use, slice: PolicySlice): Decision {
    if (slice.readsArguments) return decideSeen(principal, use, slice)
    const decisions = withoutArguments.get(principal) ?? new Map<string, Decision>()
    withoutArguments.set(principal, decisions)
    const key = keyOf(use, slice, false)
    const before = decisions.get(key)
    if (before) return before
    const decision = decideSeen(principal, use, slice)
    if (decisions.size < MOST_KEPT && key.length <= LONGEST_KEY) decisions.set(key, decision)
    return decision
  }

  function decideSeen(principal: Principal, use: Use, slice: PolicySlice): Decision {
    const args = slice.readsArguments ? unseenArguments(use.arguments) : []
    const unseen = new Map([...args, ...principal.unseen])
    return judgeUnseen(unseen, slice.readers, forbids => judge(principal, use, slice, forbids))
  }

  /** By the policies of a slice, else by these forbids alone, where all else is allowed. */
  function judge(
    principal: Principal,
    use: Use,
    slice: PolicySlice,
    forbids?: BlindPolicies['forbids'],
  ): Decision {
    try {
      const call = buildCall(principal, use, slice, surroundings)
      const key = JSON.stringify(forbids ? [call, Object.keys(forbids)] : call)
      const before = kept.get(key)
      if (before) return before
      const decision = ask(call, forbids)
      if (kept.size >= MOST_KEPT) kept.clear()
      if (key.length <= LONGEST_KEY) kept.set(key, decision)
      return decision
    } catch (error) {
      log.warn('policies could not decide on a call', { problem: messageOf(error) })
      return { isAllowed: false, policies: [] }
    }
  }

  const sliceOf = (use: Use) => slices.of(actionOf(use), resourceOf(use))

  return {
    readsHints(use) {
      const { resource } = sliceOf(use).references
      return resource === 'all' || HINTS.some(hint => resource.has(hint))
    },
    decide(caller, use) {
      if (!use.id.isWellFormed()) return { isAllowed: false, policies: [] }
      return decideOnce(principalOf(caller), use, sliceOf(use))
    },
    decideAll(caller, uses) {
      const principal = principalOf(caller)
      const alike = new Map<string, boolean>()
      return uses.map(use => {
        if (!use.id.isWellFormed()) return false
        const slice = sliceOf(use)
        const key = keyOf(use, slice, isAnonymous(use, slice, surroundings))
        const known = alike.get(key)
        if (known !== undefined) return known
        const { isAllowed } = decideSeen(principal, use, slice)
        alike.set(key, isAllowed)
        return isAllowed
      })
    },
    close: () => slices.close(),
  }
}

/** What the policies can see of an item of a list: items with the same key get the same decision. */
function keyOf({ id, hints = {} }: Use, slice: PolicySlice, isAnonymous: boolean): string {
  const told = HINTS.map(hint => hints[hint] ?? '').join()
  const { nameTests } = slice
  const isAlike = nameTests !== undefined && isAnonymous
  const name = isAlike ? nameTests.map(test => (test(id) ? '1' : '0')).join('') : `.${id}`
  return `${slice.id} ${told} ${name}`
}
