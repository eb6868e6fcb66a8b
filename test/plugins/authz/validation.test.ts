import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openCedarDecider } from '../../../plugins/authz/cedar/cedar-decider.ts'
import { type LintServer, lintPolicies } from '../../../plugins/authz/cedar/lint-policies.ts'
import { readCedar } from '../../../plugins/authz/cedar/read-cedar.ts'
import type { Use } from '../../../plugins/authz/decider.ts'
import { argumentsOf, argumentTypesOf } from '../../../plugins/authz/lint-file.ts'
import { parseConfig } from '../../../plugins/authz/parse-config.ts'
import { createLog } from '../../../src/log.ts'
import { caller, policy, use } from './arbitraries.ts'

const asker = new AbortController()
const log = createLog({ write: () => {}, human: false, debug: false })
const source = { where: 'here', locate: () => undefined }

const inputSchema = {
  properties: {
    amount: { type: 'integer' },
    price: { type: 'number' },
    to: { type: 'string' },
    force: { type: 'boolean' },
    tags: { type: 'array' },
    either: { type: ['string', 'integer'] },
  },
}
const pay: LintServer = {
  name: 'srv',
  tools: [{ name: 'pay', arguments: argumentsOf(inputSchema), types: argumentTypesOf(inputSchema) }],
}

async function problemsOf(text: string, server?: LintServer): Promise<string[]> {
  const read = await readCedar({ policies: [text] }, { server: 'srv', source })
  return lintPolicies(read, server).map(({ problem }) => problem)
}

test.each<[string, string]>([
  [
    'permit(principal, action == Action::"call_tool", resource) when { resource.uri == principal.claim_home };',
    'it cannot be evaluated: a Tool has no attribute "uri"',
  ],
  [
    'permit(principal, action == Action::"call_tool", resource) when { resource has uri };',
    'it never matches: nothing fits its scope and its conditions',
  ],
  [
    'permit(principal, action == Action::"call_tool", resource) when { action == Action::"get_prompt" };',
    'it never matches: nothing fits its scope and its conditions',
  ],
  [
    'permit(principal, action == Action::"read_resource", resource) when { context.arg_x > 1 };',
    'it cannot be evaluated: the context of read_resource has no "arg_x"',
  ],
  [
    'permit(principal in MCP::"srv", action, resource);',
    'it never matches: nothing fits its scope and its conditions',
  ],
  [
    'permit(principal, action, resource) when { resource is Tool && resource is Prompt };',
    'it never matches: nothing fits its scope and its conditions',
  ],
  [
    'permit(principal, action, resource) unless { true };',
    'it never matches: nothing fits its scope and its conditions',
  ],
  [
    'permit(principal, action, resource) when { principal.claim_sub == "\u0430dmin" };',
    'string `"\u0430dmin"` contains mixed scripts',
  ],
  [
    'permit(principal, action, resource == Tool::"pay") when { context.arg_amount like "1*" };',
    'it does not fit the input schema of the tool: unexpected type: expected String but saw Long',
  ],
  [
    'permit(principal, action, resource == Tool::"pay") when { context.arg_to > 5 };',
    'it does not fit the input schema of the tool: unexpected type: expected Long but saw String',
  ],
  [
    'permit(principal, action, resource == Tool::"pay") when { context.arg_tags.contains("x") };',
    'it does not fit the input schema of the tool: the context of call_tool has no "arg_tags"',
  ],
])('a lint says why %s never matches', async (text, problem) => {
  expect(await problemsOf(text, pay)).toEqual([problem])
})

const FINE = [
  'permit(principal, action, resource == Tool::"pay") when { context.arg_amount <= 100 };',
  'permit(principal, action, resource == Tool::"pay") when { context.arg_price.lessThan(decimal("9.5")) || context.arg_price < 9 };',
  'permit(principal, action, resource == Tool::"pay") when { context.arg_price.lessThan(decimal("9.5")) };',
  'permit(principal, action, resource == Tool::"pay") when { context.arg_to like "a*" && !context.arg_force };',
  'permit(principal, action, resource == Tool::"pay") when { context has arg_tags_present && context.arg_either == 1 };',
  'permit(principal, action, resource) when { context.arg_amount <= 100 && principal.claim_level >= 3 };',
  'permit(principal, action, resource) when { principal.claim_level == 1 || principal.claim_level == "one" };',
  'permit(principal, action, resource) when { resource.uri like "file:*" };',
  'permit(principal, action, resource) when { resource.readOnlyHint };',
  'forbid(principal, action, resource) when { resource has destructiveHint && resource.destructiveHint };',
  'forbid(principal, action, resource) unless { resource has readOnlyHint && resource.readOnlyHint };',
  'permit(principal, action, resource) when { principal.claimset_scope.containsAll(["a", "b"]) };',
  'permit(principal, action, resource) when { principal.claim_realm.roles.contains("admin") };',
  'permit(principal, action, resource) when { principal has claim_roles && principal.claim_roles.contains("a") };',
  'permit(principal, action, resource) when { principal.claim_email like "*@localhost" && principal.claim_sub != "anonymous" };',
  'permit(principal, action, resource) when { context.claim_sub == principal.claim_sub };',
  'permit(principal, action, resource) when { resource.arg_to == principal.claim_sub };',
  'permit(principal == Client::"alice", action == Action::"get_prompt", resource in MCP::"srv");',
  'permit(principal in THVGroup::"staff", action in [Action::"call_tool", Action::"read_resource"], resource);',
  'permit(principal, action, resource) when { principal in [THVGroup::"a", Client::"bob"] };',
  'permit(principal, action, resource) when { ip(principal.claim_ip).isLoopback() };',
  'permit(principal, action, resource) when { principal.claim_on };',
  'permit(principal, action, resource) when { [].contains(principal.claim_sub) || true };',
  'permit(principal, action, resource) when { context has claim_a.b };',
]

test('a lint finds nothing in policies that can match', async () => {
  expect(FINE.length).toBeGreaterThan(0)
  for (const text of FINE)
    expect([text, await problemsOf(text, pay), await problemsOf(text)]).toEqual([text, [], []])
})

test('a lint finds nothing in the examples of the documentation', async () => {
  const page = await readFile('docs/authorization.md', 'utf8')
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text)
  const found: unknown[] = []
  for (const block of blocks) {
    const { authz } = await parseConfig(block, 'docs')
    for (const text of authz.cedar?.policies ?? []) found.push(await problemsOf(text, pay))
  }
  expect(found.length).toBeGreaterThan(1)
  expect(found.flat()).toEqual([])
})

/** As `askedUse` makes them: only tools have annotations, and reading a resource has no arguments. */
const real = ({ hints, arguments: args, ...named }: Use): Use => {
  if (named.feature === 'resource') return named
  return named.feature === 'tool' ? { ...named, hints, arguments: args } : { ...named, arguments: args }
}

test('what allows a use is never said to match nothing', { timeout: 120_000 }, async () => {
  let allowed = 0
  await fc.assert(
    fc.asyncProperty(
      policy,
      caller,
      fc.array(use.map(real), { minLength: 4, maxLength: 8 }),
      async (text, who, uses) => {
        const permit = text.replace(/^forbid/, 'permit')
        const decider = await openCedarDecider({ policies: [permit] }, { server: 'srv', source, log })
        const isUsed = uses.some(one => (decider.decide(who, one, asker) as { isAllowed: boolean }).isAllowed)
        decider.close()
        if (!isUsed) return
        allowed++
        const problems = await problemsOf(permit)
        expect([permit, problems.filter(problem => /never matches|evaluated/.test(problem))]).toEqual([
          permit,
          [],
        ])
      },
    ),
    { numRuns: 120 },
  )
  expect(allowed).toBeGreaterThan(0)
})

test('what the validator finds is named with the place in the file, the rest with the place of the policy', async () => {
  const text = `version: "1.0"
type: cedarv1
cedar:
  policies:
    - |
      // é😀
      permit(principal, action == Action::"call_tool", resource)
        when { "é😀" == context.arg_to && resource.uri == "x" };
      permit(principal, action == Action::"call_tol", resource);
`
  const yaml = await parseConfig(text, 'policies.yaml')
  const read = await readCedar(yaml.authz.cedar ?? expect.fail(), { server: 'srv', source: yaml })
  const found = lintPolicies(read, undefined).map(({ problem, place: { file } }) => [
    file?.line,
    file?.column,
    problem,
  ])
  const column = text.split('\n')[7]?.indexOf('resource.uri') ?? 0
  expect(found).toEqual([
    [8, column + 1, 'it cannot be evaluated: a Tool has no attribute "uri"'],
    [9, 7, 'nobody asks for the action "call_tol"; did you mean call_tool?'],
  ])
})
