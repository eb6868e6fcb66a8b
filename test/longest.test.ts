import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findLongest, functionsOf } from '../scripts/longest.ts'

test('functions are measured from their head to their closing brace', () => {
  const lines = [
    'export async function outer(): Promise<void> {', // 1
    '  const inner = () => {',
    '    work()',
    '  }',
    '  inner()',
    '}',
    'const short = () => 1',
  ]
  expect(functionsOf('a.ts', lines)).toEqual([
    { place: 'a.ts:1', lines: 6 },
    { place: 'a.ts:2', lines: 3 },
  ])
})

test('the longest come first', () => {
  const { files, functions } = findLongest()
  for (const list of [files, functions]) {
    expect(list).toHaveLength(10)
    expect(list.map(({ lines }) => lines)).toEqual(list.map(({ lines }) => lines).toSorted((a, b) => b - a))
  }
})

test('a function of more than a hundred lines says why it is long', () => {
  const long = findLongest().functions.filter(({ lines }) => lines > 100)
  const silent = long.filter(({ place }) => {
    const [file = '', line] = place.split(':')
    const before = readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, Number(line) - 1)
    const comment = before.slice(before.findLastIndex(text => text.trimStart().startsWith('/**')))
    return !comment.join(' ').includes('It is long because') || !comment.at(-1)?.endsWith('*/')
  })
  expect(silent).toEqual([])
})
