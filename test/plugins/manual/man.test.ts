import { expect, test } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'

test('man prints a page in the macros of man(7), with every command and flag', async () => {
  const { code, stdout } = await (await keelsonUser()).run(['man'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^\.TH KEELSON 1 /)
  expect(stdout).toContain('.SS keelson mcp call [flags] TOOL')
  expect(stdout).toContain('.B \\-\\-ignore\\-missing\n')
  expect(stdout).toContain('It takes the flags of run.')
  const macros = new Set(stdout.match(/^[.'].*?(?=[ \n])/gm))
  expect([...macros].toSorted()).toEqual(['.B', '.EE', '.EX', '.P', '.SH', '.SS', '.TH', '.TP'])
})
