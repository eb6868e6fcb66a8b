import fc from 'fast-check'
import type { Use } from '../../../plugins/authz/decider.ts'

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
/** The text of a policy. */
export const policy = fc
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

export const caller = fc.record({
  subject: fc.constantFrom('alice', 'bob', ''),
  claims: fc.record(
    {
      sub: fc.constantFrom('alice', 'bob'),
      email: fc.constantFrom('x@y', 'z'),
      level: fc.constantFrom(1, 3, 'no', 1e30),
      groups: fc.constantFrom([], ['g'], ['all', 'h']),
    },
    { requiredKeys: ['sub'] },
  ),
})
export const use = fc.record(
  {
    feature: fc.constantFrom('tool', 'tool', 'prompt', 'resource'),
    id: fc.constantFrom('a', 'b', 'c', 'ca', 'd', 'x*', '', 'file:a'),
    arguments: fc.constantFrom({}, { x: 1 }, { x: 1.5, name: 'b' }, { x: 3, feature: 'a' }, { x: [1] }),
    hints: fc.constantFrom({}, { readOnlyHint: true }, { readOnlyHint: false }),
  },
  { requiredKeys: ['feature', 'id'] },
) as fc.Arbitrary<Use>
