import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { LintServer } from '../../../plugins/authz/cedar/lint-policies.ts'
import { argumentsOf, lintFile } from '../../../plugins/authz/lint-file.ts'
import { readMembers, toTestCaller } from '../../../plugins/authz/read-claims.ts'
import { tryUse } from '../../../plugins/authz/try-use.ts'
import { createLog } from '../../../src/log.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { temporaryFolder } from '../audit/audited-proxy.ts'
import { cedar } from './authz-world.ts'

const log = createLog({ write: () => {}, human: false, debug: false })

async function fileOf(content: object | string): Promise<string> {
  const path = join(await temporaryFolder(), 'policies.json')
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

test('a test names the policies that decided, and why others did not apply', async () => {
  const file = await fileOf(
    cedar(
      '@id("staff") permit(principal in THVGroup::"staff", action, resource);\n\n@id("pay") permit(principal, action == Action::"call_tool", resource == Tool::"pay") when { context.arg_amount < 5 } unless { context has arg_force };',
      'forbid(principal, action == Action::"get_prompt", resource);',
      'permit(principal, action, resource == Tool::"read");',
    ),
  )
  const explain = (args: object) =>
    tryUse(file, {
      caller: toTestCaller({ sub: 'alice' }),
      use: { feature: 'tool', id: 'pay', arguments: { ...args } },
      server: 'srv',
      log,
    })
  const reasons = async (args: object) => (await explain(args)).policies?.map(({ reason }) => reason)
  expect(await explain({ amount: 4 })).toMatchObject({
    decision: { isAllowed: true, policies: ['pay'] },
    policies: [
      { id: 'staff', effect: 'permit', text: 1, line: 1, applies: false, reason: 'its principal is another' },
      { id: 'pay', effect: 'permit', text: 1, line: 3, applies: true },
      { id: 'policy2', effect: 'forbid', text: 2, line: 1, applies: false, reason: 'its action is another' },
      {
        id: 'policy3',
        effect: 'permit',
        text: 3,
        line: 1,
        applies: false,
        reason: 'its resource is another',
      },
    ],
  })
  expect((await reasons({ amount: 5 }))?.[1]).toBe('the condition after "when" is false (condition 1)')
  expect((await reasons({ amount: 1, force: 1 }))?.[1]).toBe(
    'the condition after "unless" is true (condition 2)',
  )
  expect((await reasons({}))?.[1]).toContain(
    'it cannot be evaluated: record does not have the attribute `arg_amount`',
  )
})

test('claims are read from JSON, files and pairs, and a caller without a subject is refused', async () => {
  const file = await fileOf({ sub: 'bob', groups: ['a'] })
  expect(await readMembers([`@${file}`, 'sub=alice', 'level=3', 'name=a=b', '{"x":{"y":1}}'], 'as')).toEqual({
    ...{ sub: 'alice', groups: ['a'], level: 3, name: 'a=b', x: { y: 1 } },
  })
  for (const wrong of ['{', 'sub', '=x', `@${await fileOf('[]')}`]) {
    await expect(readMembers([wrong], 'as')).rejects.toMatchObject({ code: 'usage' })
  }
  expect(() => toTestCaller({ name: 'alice' })).toThrow('--as names no subject')
})

const server: LintServer = {
  name: 'srv',
  tools: [
    { name: 'get_file', arguments: ['path'] },
    { name: 'pay', arguments: undefined },
  ],
}

test.each<[string, RegExp]>([
  ['permit(principal, action == Action::"call_tol", resource);', /did you mean call_tool/],
  ['permit(principal, action == Action::"list_tools", resource);', /nobody asks for the action "list_tools"/],
  ['permit(principal in Group::"a", action, resource);', /nothing has the type Group/],
  ['permit(principal, action, resource) when { principal.sub == "a" };', /did you mean claim_sub/],
  [
    'permit(principal, action, resource) when { context has amount };',
    /no context has the attribute "amount"/,
  ],
  ['permit(principal, action, resource) when { resource.readonlyHint };', /did you mean readOnlyHint/],
  ['permit(principal, action == Action::"call_tool", resource == Prompt::"a");', /never matches: no action/],
  ['permit(principal is Tool, action, resource);', /each principal is a Client/],
  ['permit(principal, action, resource in MCP::"other");', /the workload is "srv"/],
  [
    'permit(principal, action, resource == Tool::"get_fil");',
    /shows no tool "get_fil"; did you mean get_file/,
  ],
  [
    'permit(principal, action == Action::"call_tool", resource) when { resource.name like "gte_*" };',
    /fits no tool/,
  ],
  [
    'permit(principal, action, resource == Tool::"get_file") when { context.arg_pth like "/a*" };',
    /no argument "pth"; did you mean path/,
  ],
  ['permit(principal, action, resource) when { nothing };', /line 1, column \d+: invalid variable: nothing/],
])('a lint finds what is wrong with %s', async (policy, problem) => {
  const found = await lintFile(await fileOf(cedar(policy)), server)
  expect(found).toEqual([expect.objectContaining({ problem: expect.stringMatching(problem) })])
})

test('a lint finds nothing in policies that can match', async () => {
  const file = await fileOf(
    cedar(
      'permit(principal in THVGroup::"a", action == Action::"call_tool", resource == Tool::"get_file") when { context.arg_path like "/a*" && principal.claim_realm.roles.contains("x") };',
      'forbid(principal, action in [Action::"call_tool", Action::"get_prompt"], resource is Tool in MCP::"srv") when { resource.name like "pa*" && !(resource has readOnlyHint) };',
      'permit(principal, action, resource == Tool::"pay") when { context has arg_any };',
    ),
  )
  expect(await lintFile(file, server)).toEqual([])
  expect(argumentsOf({ properties: { a: {} } })).toEqual(['a'])
  expect(argumentsOf({ properties: { a: {} }, additionalProperties: true })).toBeUndefined()
})

test('the commands exit with what they found', async () => {
  const user = await keelsonUser()
  const file = await fileOf(cedar('permit(principal == Client::"alice", action, resource == Tool::"pay");'))
  const allowed = await user.run([
    'authz',
    'test',
    file,
    '--as',
    'sub=alice',
    '--call',
    'pay',
    '--format',
    'json',
  ])
  expect(allowed.code).toBe(0)
  expect(JSON.parse(allowed.stdout)).toMatchObject({ allowed: true, policies: ['policy0'] })
  const denied = await user.run(['authz', 'test', file, '--as', 'sub=bob', '--call', 'pay'])
  expect([denied.code, denied.stdout]).toEqual([1, expect.stringContaining('its principal is another')])
  expect((await user.run(['authz', 'test', file])).code).toBe(2)
  const linted = await user.run(['authz', 'lint', file])
  expect([linted.code, linted.stdout]).toEqual([0, 'Nothing was found.\n'])
})
