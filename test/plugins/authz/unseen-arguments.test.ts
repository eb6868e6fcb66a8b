import { expect, test } from 'vitest'
import { openCedarDecider } from '../../../plugins/authz/cedar/cedar-decider.ts'
import type { Use } from '../../../plugins/authz/decider.ts'
import type { Caller } from '../../../src/contracts/caller-auth.ts'
import { createLog } from '../../../src/log.ts'
import { post } from '../proxy/test-proxy.ts'
import { as, authorizedProxy, cedar, offeringServer } from './authz-world.ts'

const log = createLog({ write: () => {}, human: false, debug: false })
const source = { where: 'here', locate: () => undefined }
const caller = { subject: 'alice', claims: { sub: 'alice' } }

async function open(...policies: string[]) {
  const decider = await openCedarDecider({ policies }, { server: 'srv', source, log })
  const asker = new AbortController()
  return { decide: (who: Caller, use: Use) => decider.decide(who, use, asker) }
}
const call = (args: Record<string, unknown>) => ({ feature: 'tool', id: 'pay', arguments: args }) as const

const LIMIT =
  '@id("limit") forbid(principal, action, resource) when { context has arg_x && context.arg_x > 100 };'
const ALL = '@id("all") permit(principal, action, resource);'

/** JSON that Cedar has no value for. */
const UNSEEN = [
  '1e30',
  '9223372036854775808',
  '-1e400',
  '100.00001',
  '1e-7',
  'null',
  '[101]',
  '{"a":101}',
  '"\\ud800"',
]

test.each(UNSEEN)('a forbid that looks at an argument denies when that is %s', async text => {
  const decider = await open(ALL, LIMIT)
  const x: unknown = JSON.parse(text)
  expect(await decider.decide(caller, call({ x }))).toEqual({
    isAllowed: false,
    policies: ['limit'],
    reason: 'the argument "x" has a value that policies cannot see',
  })
  // What no policy looks at does not count, nor what stands deeper.
  expect(await decider.decide(caller, call({ x: 5, y: x }))).toEqual({ isAllowed: true, policies: ['all'] })
  expect(await decider.decide(caller, call({ y: { x } }))).toMatchObject({ isAllowed: true })
  expect(await decider.decide(caller, call({ x: 101 }))).toEqual({ isAllowed: false, policies: ['limit'] })
})

test('it does not matter how the forbid looks at the argument', async () => {
  for (const condition of [
    'resource has arg_x && resource.arg_x > 100',
    'context has arg_x',
    '(if principal has claim_sub then resource else Tool::"a").arg_x > 100',
    'context has arg_x.y',
    'context.arg_x like "*"',
    'context == {"arg_x": 1}',
    'if true then context has arg_y && context has arg_x && context.arg_x == context.arg_y else false',
  ]) {
    const decider = await open(ALL, `forbid(principal, action, resource) when { ${condition} };`)
    expect([condition, await decider.decide(caller, call({ x: 1e30 }))]).toEqual([
      condition,
      expect.objectContaining({ isAllowed: false, reason: expect.stringContaining('"x"') }),
    ])
  }
})

test('a forbid about something else does not deny, and one that asks for the presence alone is evaluated', async () => {
  const decider = await open(
    ALL,
    'forbid(principal, action, resource == Tool::"other") when { context has arg_x };',
    'forbid(principal, action == Action::"get_prompt", resource) when { context has arg_x };',
    'forbid(principal, action, resource) when { context has arg_y_present };',
    'forbid(principal, action, resource) when { [Tool::"a"].contains(resource) || principal == resource };',
  )
  expect(await decider.decide(caller, call({ x: 1e30 }))).toMatchObject({ isAllowed: true })
  expect(await decider.decide(caller, call({ y: 1e30 }))).toEqual({ isAllowed: false, policies: ['policy3'] })
})

test('a permit that looks at the argument permits nothing then, others do', async () => {
  const unless =
    '@id("small") permit(principal, action, resource) unless { context has arg_x && context.arg_x > 100 };'
  const alone = await open(unless)
  expect(await alone.decide(caller, call({ x: 1 }))).toMatchObject({ isAllowed: true })
  expect(await alone.decide(caller, call({ x: 1e30 }))).toEqual({
    isAllowed: false,
    policies: [],
    reason: 'the argument "x" has a value that policies cannot see',
  })
  const both = await open(unless, ALL)
  expect(await both.decide(caller, call({ x: 1e30 }))).toEqual({ isAllowed: true, policies: ['all'] })
  const presence = await open(
    'permit(principal, action, resource) when { context has arg_x_present || context has arg_x };',
  )
  expect(await presence.decide(caller, call({ x: [] }))).toMatchObject({ isAllowed: true })
})

test('the server does not get such a call, and a text of megabytes is compared as it is', async () => {
  const { target, received } = await offeringServer()
  const long =
    '@id("long") forbid(principal, action, resource) when { context has arg_x && context.arg_x like "*a" };'
  const { url, decisions } = await authorizedProxy({ authz_config: cedar(ALL, long) }, { target })
  const send = (x: string) =>
    post(
      url,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"x":${x}}}}`,
      as(caller.claims),
    ).then(({ status }) => status)
  for (const x of [...UNSEEN, `${'['.repeat(500)}${']'.repeat(500)}`])
    expect([x, await send(x)]).toEqual([x, 403])
  expect(decisions[0]?.reason).toContain('"x"')
  expect(received).toEqual([])
  const text = 'b'.repeat(3_000_000)
  expect([await send(`"${text}"`), await send(`"${text}a"`)]).toEqual([200, 403])
})
