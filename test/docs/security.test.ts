import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('SECURITY.md', 'utf8')
const rows = page.split('\n').filter(line => /^\| (?!Wants|Who|---)/.test(line) && !line.startsWith('|---'))
const testsOf = (text: string): string[] => text.match(/test\/[\w/.-]+\.test\.ts/g) ?? []

test('each row of the threat model names tests that exist', () => {
  expect(rows.length).toBeGreaterThan(25)
  expect(rows.filter(row => testsOf(row).length === 0)).toEqual([])
  expect(testsOf(page).filter(file => !existsSync(file))).toEqual([])
})

test('every staged attack has a row in the threat model', () => {
  const named = new Set(testsOf(page))
  const staged = globSync('test/hostile/*.test.ts')
  expect(staged.length).toBeGreaterThan(10)
  expect(staged.filter(file => !named.has(file))).toEqual([])
})
