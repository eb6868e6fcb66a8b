import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { extname } from 'node:path'
import { expect, test } from 'vitest'
import { recipeProgram } from '../../../plugins/recipes/recipe-program.ts'
import { programText } from '../../../src/lib/program-text.ts'

const PARSE = 'import ast, sys; ast.parse(sys.stdin.read())'
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  '.cjs': [process.execPath, '--check', '-'],
  '.py': ['python3', '-c', PARSE],
  '.sh': ['/bin/sh', '-n'],
}

const programs = globSync('plugins/**/programs/*').sort()

test('there are programs to check', () => {
  expect(programs.length).toBeGreaterThan(10)
})

test.each(programs)('%s is accepted by its interpreter', path => {
  const [command = '', ...args] = CHECKS[extname(path)] ?? []
  const input = programText(path, { GATE_FD: '3' })
  const { status, stderr } = spawnSync(command, args, { input, encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

test.each(['check-lock.cjs', 'run-scripts.cjs', 'fetch_pypi.py', 'build_sdists.py'])(
  'every value that %s of the recipes asks for is put in',
  file => {
    expect(recipeProgram(file)).not.toMatch(/__[A-Z_]+__/)
  },
)

test('a program that is not there is an error', () => {
  expect(() => programText('plugins/none/programs/none.cjs')).toThrow('none.cjs')
})
