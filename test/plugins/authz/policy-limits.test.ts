import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCedarDecider } from '../../../plugins/authz/cedar/cedar-decider.ts'
import { MOST_DEPTH, measurePolicies } from '../../../plugins/authz/cedar/measure-policies.ts'
import { lintFile } from '../../../plugins/authz/lint-file.ts'
import { tryUse } from '../../../plugins/authz/try-use.ts'
import { createLog } from '../../../src/log.ts'
import { temporaryFolder } from '../audit/audited-proxy.ts'
import { ask, authorizedProxy, cedar, offeringServer } from './authz-world.ts'

const log = createLog({ write: () => {}, human: false, debug: false })
const source = { where: 'here', locate: () => undefined }
const caller = { subject: 'alice', claims: { sub: 'alice' } }
const use = { feature: 'tool', id: 'a', arguments: { x: 1 } } as const
const open = (policies: readonly string[], entities_json = '') =>
  openCedarDecider({ policies: [...policies], entities_json }, { server: 'srv', source, log })
const when = (condition: string) => `permit(principal, action, resource) when { ${condition} };`
const PERMIT = 'permit(principal, action, resource);'

test('a thousand policies are read, more are refused with the place of the first of those', async () => {
  const many = Array.from({ length: 1000 }, (_, i) => `@id("p${i}") ${PERMIT} // ; and ;`)
  const decider = await open(many)
  expect(decider.decide(caller, use, { signal: AbortSignal.abort() })).toMatchObject({ isAllowed: true })
  decider.close()
  await expect(open([...many.slice(0, 500), many.slice(500).join('\n'), PERMIT])).rejects.toThrow(
    'cedar.policies, text 502, line 1: more than 1000 policies',
  )
  await expect(open([Array(30_000).fill(PERMIT).join('\n')])).rejects.toThrow('line 1001: more than 1000')
})

test('a change to too many policies, or to one that is too deep, leaves those before in force', async () => {
  const path = join(await temporaryFolder(), 'policies.json')
  await writeFile(path, JSON.stringify(cedar('permit(principal, action, resource == Tool::"a");')))
  const { target } = await offeringServer()
  const { url, logged } = await authorizedProxy({ authz_config_path: path }, { target })
  const statusOf = async (name: string) => (await ask(url, { sub: 'x' }, 'tools/call', { name })).status
  for (const [policies, problem] of [
    [Array(1001).fill(PERMIT), 'more than 1000 policies'],
    [[when(`${'('.repeat(300)}true${')'.repeat(300)}`)], 'deeper than 200 operators'],
  ] as const) {
    await writeFile(path, JSON.stringify(cedar(...policies)))
    await expect.poll(() => logged.join()).toContain(problem)
    expect([await statusOf('a'), await statusOf('b')]).toEqual([200, 403])
  }
  const findings = await lintFile(path, undefined)
  expect(findings).toEqual([{ problem: expect.stringContaining('line 1, column') }])
})

/** Conditions that are deeper with each step, all true. */
const SHAPES: Readonly<Record<string, (steps: number) => string>> = {
  brackets: n => `${'('.repeat(n)}true${')'.repeat(n)}`,
  negations: n => `${'!!('.repeat(n)}true${')'.repeat(n)}`,
  sets: n => `[${'['.repeat(n)}1${']'.repeat(n)}].containsAll([])`,
  records: n => `${'{a: '.repeat(n)}1${'}'.repeat(n)} != 2`,
  calls: n => `!${'[1].contains('.repeat(n)}2${')'.repeat(n)}`,
  'chain of ||': n => `false${' || resource == Tool::"b"'.repeat(n)} || true`,
  'chain of &&': n => `true${' && context.arg_x == 1'.repeat(n)}`,
  sum: n => `0${' + 0'.repeat(n)} == 0`,
  'nested if': n => `${'if false then false else '.repeat(n)}true`,
  'if in brackets': n => `${'if ('.repeat(n)}true${') then true else false'.repeat(n)}`,
}

test.each(Object.entries(SHAPES))(
  'a policy of %s works up to the limit and is refused beyond',
  async (_, of) => {
    const depthOf = (steps: number) => measurePolicies(when(of(steps)))[0]?.depth ?? 0
    let steps = 1
    while (depthOf(steps + 1) <= MOST_DEPTH) steps++
    const policy = when(of(steps))
    const path = join(await temporaryFolder(), 'policies.json')
    await writeFile(path, JSON.stringify(cedar(policy)))

    const decider = await open([policy])
    const decision = await decider.decide(caller, use, { signal: AbortSignal.abort() })
    decider.close()
    const tried = await tryUse(path, { caller, use, server: 'srv', log })
    expect(tried.decision).toEqual(decision)
    await lintFile(path, undefined)

    for (const more of [steps + 1, 1000, 20_000]) {
      await expect(open([when(of(more))])).rejects.toThrow('deeper than 200 operators')
    }
    // Cedar still works: an overflow of its stack would have ended that.
    const after = await open([PERMIT])
    expect(after.decide(caller, use, { signal: AbortSignal.abort() })).toMatchObject({ isAllowed: true })
  },
)

test('the depth is that of the deepest item, and texts and comments do not count', () => {
  const depthOf = (condition: string) => measurePolicies(when(condition))[0]?.depth
  const flat = Array.from({ length: 5000 }, (_, i) => `"((( || ${i}"`).join()
  expect(depthOf(`[${flat}].contains(context.arg_x)`)).toBeLessThan(20)
  expect(depthOf(`true // ${'('.repeat(500)}\n`)).toBe(depthOf('true'))
  expect(depthOf(`"\\"(((" == "${'|| \\"'.repeat(500)}"`)).toBe(depthOf('1 == 2'))
  expect(measurePolicies(`${'"\\'.repeat(500_000)}`)).toEqual([])
})

test('entities that are nested too deep are refused', async () => {
  const deep = `[{"uid": {"type": "Tool", "id": "a"}, "attrs": {"x": ${'['.repeat(500)}${']'.repeat(500)}}, "parents": []}]`
  await expect(open([PERMIT], deep)).rejects.toThrow('cedar.entities_json: it is nested too deep')
})
