import { expect, test } from 'vitest'
import { findEmptyTests } from '../scripts/empty-tests.ts'

const find = (text: string) => findEmptyTests({ 'a.test.ts': text })

test.each([
  ["test('x', () => { run() })", 'asserts nothing'],
  ["test.each([1])('x', { timeout: 1 }, async n => { if (n) return; expect(n).toBe(1) })", 'returns early'],
  ["test.skipIf(isRoot)('x', () => { expect(1).toBe(1) })", 'skips without a recorded reason'],
  ["test('x', context => { context.skip(); expect(1).toBe(1) })", 'skips without a recorded reason'],
])('%s is found', (text, problem) => {
  expect(find(text)).toEqual([`a.test.ts:1 ${problem}`])
})

test.each([
  "test('x', () => { expect(1).toBe(1) })",
  "test('x', () => expect(1).toBe(1))",
  "const holds = () => { expect(1).toBe(1) }; test('x', () => { holds() })",
  "test('x', () => { const twice = n => { return n * 2 }; expect(twice(1)).toBe(2) })",
])('%s is fine', text => {
  expect(find(text)).toEqual([])
})

test('no test of ours may pass empty', () => {
  expect(findEmptyTests()).toEqual([])
})
