import { expect, test } from 'vitest'
import { openCedarDecider } from '../../../plugins/authz/cedar/cedar-decider.ts'
import type { Use } from '../../../plugins/authz/decider.ts'
import { createLog } from '../../../src/log.ts'
import { ask, authorizedProxy, cedar, offeringServer } from './authz-world.ts'

const log = createLog({ write: () => {}, human: false, debug: false })
const source = { where: 'here', locate: () => undefined }
const asker = new AbortController()
const USE: Use = { feature: 'tool', id: 'pay' }

async function open(...policies: string[]) {
  const config = { policies, multi_valued_claims: ['x'] }
  const decider = await openCedarDecider(config, { server: 'srv', source, log })
  const callerOf = (claims: object) => ({ subject: 'alice', claims: { sub: 'alice', ...claims } })
  return {
    decide: (claims: object) => decider.decide(callerOf(claims), USE, asker),
    list: (claims: object) => decider.decideAll(callerOf(claims), [USE], asker),
  }
}

const ALL = '@id("all") permit(principal, action, resource);'
const LIMIT =
  '@id("limit") forbid(principal, action, resource) when { principal has claim_x && principal.claim_x > 100 };'
const reason = 'the claim "x" has a value that policies cannot see'

/** JSON that Cedar has no value for, or not the whole of it. */
const UNSEEN = [
  '1e30',
  '9223372036854775808',
  '100.00001',
  'null',
  '"\\ud800"',
  '[101,null]',
  '{"level":1e30}',
  '{"a":{"b":[{"c":null}]}}',
  '{"__entity":{"type":"Client","id":"bob"}}',
  '{"\\ud800":1}',
  `${'['.repeat(12)}${']'.repeat(12)}`,
]

test.each(UNSEEN)('a forbid that looks at a claim denies when that is %s', async text => {
  const x: unknown = JSON.parse(text)
  const { decide, list } = await open(ALL, LIMIT)
  expect(await decide({ x })).toEqual({ isAllowed: false, policies: ['limit'], reason })
  expect(await list({ x })).toEqual([false])
  // What no policy looks at does not count.
  expect(await decide({ x: 5, y: x })).toEqual({ isAllowed: true, policies: ['all'] })
  expect(await list({ x: 5, y: x })).toEqual([true])
})

test('values that Cedar holds are compared as before', async () => {
  const { decide } = await open(
    ALL,
    'forbid(principal, action, resource) when { principal has claim_x.a && principal.claim_x.a.contains(2) };',
  )
  expect(await decide({ x: { a: [2], b: { c: 1.5 } } })).toEqual({ isAllowed: false, policies: ['policy1'] })
  expect(await decide({ x: { a: [1], b: [] } })).toEqual({ isAllowed: true, policies: ['all'] })
})

test.each([
  'context has claim_x && context.claim_x > 100',
  'principal has claimset_x && principal.claimset_x.contains(101)',
  'principal has claim_x.level && principal.claim_x.level > 3',
  '(if context has claim_y then principal else Client::"a").claim_x > 100',
  'Client::"alice" has claim_x',
  'context == {"claim_x": 101}',
])('a forbid looks at the claim by %s', async condition => {
  const { decide } = await open(ALL, `forbid(principal, action, resource) when { ${condition} };`)
  expect(await decide({ x: 1e30 })).toEqual({ isAllowed: false, policies: ['policy1'], reason })
})

test('a permit that looks at the claim permits nothing, others do', async () => {
  const unless =
    '@id("low") permit(principal, action, resource) unless { principal has claim_x && principal.claim_x > 100 };'
  const alone = await open(unless)
  expect(await alone.decide({ x: 1 })).toMatchObject({ isAllowed: true })
  expect(await alone.decide({ x: 1e30 })).toEqual({ isAllowed: false, policies: [], reason })
  const both = await open(unless, ALL)
  expect(await both.decide({ x: 1e30 })).toEqual({ isAllowed: true, policies: ['all'] })
})

test('a caller with such a claim neither sees nor calls what the forbid is about', async () => {
  const { target, received } = await offeringServer({ tools: [{ name: 'pay' }, { name: 'read' }] })
  const forbid = LIMIT.replace('resource)', 'resource == Tool::"pay")')
  const { url, decisions } = await authorizedProxy({ authz_config: cedar(ALL, forbid) }, { target })
  const who = { sub: 'alice', x: 1e30 }
  expect((await ask(url, who, 'tools/list')).body.result.tools).toEqual([{ name: 'read' }])
  expect((await ask(url, who, 'tools/call', { name: 'pay' })).status).toBe(403)
  expect(decisions.at(-1)).toEqual({ isAllowed: false, policies: ['limit'], reason })
  expect((await ask(url, who, 'tools/call', { name: 'read' })).status).toBe(200)
  expect(received.filter(text => text.includes('"pay"'))).toEqual([])
})
