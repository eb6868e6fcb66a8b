import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildCall, type Surroundings } from '../../../plugins/authz/cedar/build-call.ts'
import { openCedarDecider } from '../../../plugins/authz/cedar/cedar-decider.ts'
import type { References } from '../../../plugins/authz/cedar/find-references.ts'
import { loadCedar } from '../../../plugins/authz/cedar/load-cedar.ts'
import { createPrincipals } from '../../../plugins/authz/cedar/principal.ts'
import { readPolicies } from '../../../plugins/authz/cedar/read-policies.ts'
import { readEntities } from '../../../plugins/authz/cedar/static-entities.ts'
import type { Use } from '../../../plugins/authz/decider.ts'
import { createLog } from '../../../src/log.ts'

const source = { where: 'here', locate: () => undefined }
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

const scopes = {
  principal: [
    'principal',
    'principal == Client::"alice"',
    'principal in THVGroup::"g"',
    'principal in THVGroup::"all"',
    'principal is Client',
  ],
  action: [
    'action',
    'action == Action::"call_tool"',
    'action in [Action::"read_resource", Action::"get_prompt"]',
    'action in Action::"write"',
  ],
  resource: [
    'resource',
    'resource == Tool::"a"',
    'resource == Tool::"b"',
    'resource in MCP::"srv"',
    'resource in Set::"top"',
    'resource is Tool in Set::"s"',
    'resource is Resource',
  ],
}
const conditions = [
  'true',
  'resource.name like "*a*"',
  'resource.name == "b"',
  'resource.name like "c*" || resource.name like "*\\*"',
  '"b" != resource.name',
  'resource.name.contains("a")',
  'context.arg_x > 1',
  'context has arg_x && resource.arg_x == context.arg_x',
  'context.arg_x.lessThan(decimal("2.0"))',
  'resource has owner && resource.owner == principal',
  'resource has owner && resource.owner.claim_email like "*x*"',
  'principal.claim_email like "*x*"',
  'Client::"alice".claim_level == 1',
  'principal has claim_level && [1, 2].contains(principal.claim_level)',
  'resource has readOnlyHint && resource.readOnlyHint',
  'resource == Tool::"a" || principal in [THVGroup::"g", Client::"bob"]',
  '[Tool::"a", Tool::"c"].contains(resource)',
  'resource in [Set::"s", MCP::"srv"]',
  'context == {"arg_x": 1}',
  '{"k": resource.name}.k == "a"',
  'if resource.name like "a" then context.claim_sub == "bob" else resource.feature == "tool"',
  'THVGroup::"g".boss == principal',
  'resource.uri like "file:*"',
  'resource has name && principal has claim_sub.x',
]

const pick = (from: readonly string[]) => fc.constantFrom(...from)
const policy = fc
  .tuple(
    fc.constantFrom('permit', 'permit', 'forbid'),
    pick(scopes.principal),
    pick(scopes.action),
    pick(scopes.resource),
    fc.constantFrom('when', 'unless'),
    pick(conditions),
  )
  .map(
    ([effect, principal, action, resource, kind, condition]) =>
      `${effect}(${principal}, ${action}, ${resource}) ${kind} { ${condition} };`,
  )

const caller = fc.record({
  subject: fc.constantFrom('alice', 'bob', ''),
  claims: fc.record(
    {
      sub: fc.constantFrom('alice', 'bob'),
      email: fc.constantFrom('x@y', 'z'),
      level: fc.constantFrom(1, 3, 'no'),
      groups: fc.constantFrom([], ['g'], ['all', 'h']),
    },
    { requiredKeys: ['sub'] },
  ),
})
const use = fc.record(
  {
    feature: fc.constantFrom('tool', 'tool', 'prompt', 'resource'),
    id: fc.constantFrom('a', 'b', 'c', 'ca', 'd', 'x*', '', 'file:a'),
    arguments: fc.constantFrom({}, { x: 1 }, { x: 1.5, name: 'b' }, { x: 3, feature: 'a' }, { x: [1] }),
    hints: fc.constantFrom({}, { readOnlyHint: true }, { readOnlyHint: false }),
  },
  { requiredKeys: ['feature', 'id'] },
) as fc.Arbitrary<Use>

const ALL: References = {
  principal: 'all',
  resource: 'all',
  context: 'all',
  entities: new Map(),
  nameTests: undefined,
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
          const slice = { id: '', references: ALL, nameTests: undefined, readsArguments: true }
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
            policies: { staticPolicies: Object.fromEntries(parsed.map(({ id, text }) => [id, text])) },
          })
          if (answer.type === 'failure') throw new Error(JSON.stringify(answer))
          const { decision, diagnostics } = answer.response
          const broken = diagnostics.errors.some(
            ({ policyId }) => parsed.find(({ id }) => id === policyId)?.json.effect === 'forbid',
          )
          return decision === 'allow' && !broken
        }
        for (const one of uses) {
          const { isAllowed } = await decider.decide(who, one)
          expect([one, isAllowed]).toEqual([one, whole(one)])
          allowed += isAllowed ? 1 : 0
        }
        const listed = uses.map(({ arguments: _, ...item }) => item)
        expect(await decider.decideAll(who, listed)).toEqual(listed.map(whole))
        decider.close()
      },
    ),
    { numRuns: 40 },
  )
  expect(allowed).toBeGreaterThan(0)
})
