import type { PolicyJson } from '@cedar-policy/cedar-wasm/web'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildCall, type Surroundings } from '../../../plugins/authz/cedar/build-call.ts'
import { openCedarDecider } from '../../../plugins/authz/cedar/cedar-decider.ts'
import type { References } from '../../../plugins/authz/cedar/find-references.ts'
import { loadCedar } from '../../../plugins/authz/cedar/load-cedar.ts'
import { createPrincipals } from '../../../plugins/authz/cedar/principal.ts'
import { type Policy, readPolicies } from '../../../plugins/authz/cedar/read-policies.ts'
import { readEntities } from '../../../plugins/authz/cedar/static-entities.ts'
import type { Use } from '../../../plugins/authz/decider.ts'
import { createLog } from '../../../src/log.ts'
import { caller, policy, use } from './arbitraries.ts'

const source = { where: 'here', locate: () => undefined }
const asker = new AbortController()
const log = createLog({ write: () => {}, human: false, debug: false })

const entities_json = JSON.stringify([
  {
    uid: { type: 'Tool', id: 'a' },
    attrs: { owner: { __entity: { type: 'Client', id: 'alice' } }, name: 'zz' },
    parents: [{ type: 'Set', id: 's' }],
  },
  { uid: { type: 'Set', id: 's' }, attrs: { level: 2 }, parents: [{ type: 'Set', id: 'top' }] },
  { uid: { type: 'Set', id: 'top' }, attrs: {}, parents: [] },
  {
    uid: { type: 'THVGroup', id: 'g' },
    attrs: { boss: { __entity: { type: 'Client', id: 'bob' } } },
    parents: [{ type: 'THVGroup', id: 'all' }],
  },
  { uid: { type: 'Action', id: 'call_tool' }, attrs: {}, parents: [{ type: 'Action', id: 'write' }] },
])

const ALL: References = {
  principal: 'all',
  resource: 'all',
  context: 'all',
  entities: new Map(),
  nameTests: undefined,
}

/**
 * Beyond plain Cedar: where an argument or a claim has no value there, a forbid that looks at it counts without its
 * conditions, and such a permit does not count.
 */
function withoutUnseen(
  { id, text, json }: Policy,
  { claims }: { readonly claims: { readonly level?: unknown } },
  { arguments: args = {} }: Use,
): [string, string | PolicyJson][] {
  const isBlind =
    (typeof args.x === 'object' && /arg_x|context ==/.test(text)) ||
    (claims.level === 1e30 && /claim_level|context ==/.test(text))
  if (!isBlind) return [[id, text]]
  return json.effect === 'forbid' ? [[id, { ...json, conditions: [] }]] : []
}

test('a decision is the same as with all policies, attributes and entities', {
  timeout: 120_000,
}, async () => {
  const cedar = await loadCedar()
  const entities = readEntities(cedar, entities_json)
  if (typeof entities === 'string') throw new Error(entities)
  const surroundings: Surroundings = { entities, server: 'srv', groupType: 'THVGroup' }
  let allowed = 0
  await fc.assert(
    fc.asyncProperty(
      fc
        .tuple(fc.array(policy, { minLength: 1, maxLength: 5 }), fc.boolean())
        .map(([some, isOpen]) => (isOpen ? [...some, 'permit(principal, action, resource);'] : some)),
      caller,
      fc.array(use, { minLength: 1, maxLength: 12 }),
      async (policies, who, uses) => {
        const config = { policies, entities_json }
        const decider = await openCedarDecider(config, { server: 'srv', source, log })
        const parsed = readPolicies(cedar, policies, source.locate).policies
        const whole = (one: Use): boolean => {
          const slice = {
            id: '',
            references: ALL,
            nameTests: undefined,
            readsArguments: true,
            readers: () => [],
          }
          const { preparsedPolicySetId: _, ...call } = buildCall(
            createPrincipals(config)(who),
            one,
            slice,
            surroundings,
          )
          const known = new Set(call.entities.map(({ uid }) => JSON.stringify(uid)))
          const others = (JSON.parse(entities_json) as typeof call.entities).filter(
            ({ uid }) => !known.has(JSON.stringify(uid)),
          )
          const answer = cedar.isAuthorized({
            ...call,
            entities: [...call.entities, ...others],
            policies: {
              staticPolicies: Object.fromEntries(parsed.flatMap(known => withoutUnseen(known, who, one))),
            },
          })
          if (answer.type === 'failure') throw new Error(JSON.stringify(answer))
          const { decision, diagnostics } = answer.response
          const broken = diagnostics.errors.some(
            ({ policyId }) => parsed.find(({ id }) => id === policyId)?.json.effect === 'forbid',
          )
          return decision === 'allow' && !broken
        }
        for (const one of uses) {
          const { isAllowed } = await decider.decide(who, one, asker)
          expect([one, isAllowed]).toEqual([one, whole(one)])
          allowed += isAllowed ? 1 : 0
        }
        const listed = uses.map(({ arguments: _, ...item }) => item)
        expect(await decider.decideAll(who, listed, asker)).toEqual(listed.map(whole))
        decider.close()
      },
    ),
    { numRuns: 40 },
  )
  expect(allowed).toBeGreaterThan(0)
})
