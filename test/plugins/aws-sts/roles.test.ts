import { describe, expect, test } from 'vitest'
import { createChooseRole } from '../../../plugins/aws-sts/choose-role.ts'
import { sessionNameOf } from '../../../plugins/aws-sts/session-name.ts'

const role = (name: string) => `arn:aws:iam::123456789012:role/${name}`
const claims = { sub: 'ada', groups: ['dev', 'ops'], team: 'core', level: 3, email: 'ada@corp.example' }

describe('the role of a caller', () => {
  test.each([
    ['by a value of its claim', [{ claim: 'ops', role_arn: role('ops') }], 'ops'],
    [
      'by an expression',
      [{ matcher: '"dev" in claims.groups && claims.level > 2', role_arn: role('dev') }],
      'dev',
    ],
    [
      'with the lowest priority',
      [
        { claim: 'dev', role_arn: role('last') },
        { claim: 'dev', role_arn: role('second'), priority: 2 },
        { claim: 'ops', role_arn: role('first'), priority: 1 },
      ],
      'first',
    ],
    [
      'the first of equal priorities',
      [
        { claim: 'dev', role_arn: role('a'), priority: 1 },
        { claim: 'ops', role_arn: role('b'), priority: 1 },
      ],
      'a',
    ],
    [
      'past an expression that fails',
      [
        { matcher: 'claims.missing == "a"', role_arn: role('a') },
        { claim: 'ops', role_arn: role('ops') },
      ],
      'ops',
    ],
    ['the fallback where nothing fits', [{ claim: 'admins', role_arn: role('admins') }], 'fallback'],
    ['not by a part of a value', [{ claim: 'de', role_arn: role('admins') }], 'fallback'],
    [
      'not by an expression that is not true itself',
      [{ matcher: 'claims.team', role_arn: role('a') }],
      'fallback',
    ],
  ])('%s', (_, role_mappings, expected) => {
    const choose = createChooseRole({ role_mappings, fallback_role_arn: role('fallback') })
    expect(choose(claims)).toBe(role(expected))
  })

  test('is none without a fallback', () => {
    expect(createChooseRole({ role_mappings: [{ claim: 'x', role_arn: role('x') }] })(claims)).toBeUndefined()
  })

  test('by another claim, also of one text', () => {
    const role_mappings = [{ claim: 'core', role_arn: role('core') }]
    expect(createChooseRole({ role_mappings, role_claim: 'team' })(claims)).toBe(role('core'))
    expect(createChooseRole({ role_mappings, role_claim: 'constructor' })(claims)).toBeUndefined()
  })

  test('is none where a claim makes an expression take for ever, whatever comes next', () => {
    const choose = createChooseRole({
      role_mappings: [
        { matcher: 'claims.email.matches("^(a+)+$")', role_arn: role('a'), priority: 1 },
        { claim: 'dev', role_arn: role('b') },
      ],
      fallback_role_arn: role('fallback'),
    })
    expect(choose({ ...claims, email: `${'a'.repeat(100)}!` })).toBeUndefined()
    expect(choose(claims)).toBe(role('b'))
  })
})

describe('an expression is refused that', () => {
  test.each([
    ['is not one', '"a" in', 'Unexpected token'],
    ['names something else than claims', 'subject == "a"', 'Unknown variable'],
    ['gives a text', '"a" + "b"', 'it gives string'],
    ['is nested too deep', `${'('.repeat(100)}true${')'.repeat(100)}`, 'maxDepth'],
    ['has too many parts', Array(400).fill('true').join(' && '), 'maxAstNodes'],
  ])('%s', (_, matcher, problem) => {
    expect(() => createChooseRole({ role_mappings: [{ matcher, role_arn: role('a') }] })).toThrow(problem)
  })
})

test.each([
  ['ada', 'ada'],
  ['ada@corp.example', 'ada@corp.example'],
  ['a', undefined],
  ['a'.repeat(65), undefined],
  ['auth0|ada', undefined],
  ['ada\r\nx', undefined],
  [7, undefined],
  [undefined, undefined],
])('the session of the subject %j is %j', (sub, name) => {
  expect(sessionNameOf({ sub })).toBe(name)
})
