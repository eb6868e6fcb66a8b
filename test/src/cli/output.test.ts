import { expect, test } from 'vitest'
import { clean, formatTable } from '../../../src/cli/output.ts'

test('columns are as wide as their widest cell, three spaces apart, no space at the end', () => {
  const columns = [
    { title: 'NAME', of: (row: string[]) => row[0] ?? '' },
    { title: 'URL', of: (row: string[]) => row[1] ?? '' },
  ]
  expect(
    formatTable(columns, [
      ['long-name', 'u'],
      ['x', ''],
    ]),
  ).toBe('NAME        URL\nlong-name   u\nx\n')
})

const ROWS = [['notes', 'npx://@modelcontextprotocol/server-memory', 'running']]
const at = (i: number) => (row: string[]) => row[i] ?? ''

test.each([
  ['middle', 37, 'NAME    PACKAGE               STATUS\nnotes   npx://@m...r-memory   running\n'],
  ['end', 37, 'NAME    PACKAGE               STATUS\nnotes   npx://@modelcont...   running\n'],
] as const)('a table wider than the terminal is cut at the %s of a column, at %i', (cut, most, text) => {
  const columns = [
    { title: 'NAME', of: at(0) },
    { title: 'PACKAGE', of: at(1), cut },
    { title: 'STATUS', of: at(2) },
  ]
  const shown = formatTable(columns, ROWS, { most })
  expect(shown).toBe(text)
  expect(shown.split('\n').every(line => line.length <= most)).toBe(true)
})

test('a table that cannot be cut enough becomes a paragraph for each row', () => {
  const columns = [
    { title: 'NAME', of: at(0) },
    { title: 'PACKAGE', of: at(1), cut: 'middle' as const },
    { title: 'STATUS', of: at(2) },
  ]
  const record = 'NAME     notes\nPACKAGE  npx://@m...r-memory\nSTATUS   running\n'
  expect(formatTable(columns, [...ROWS, ...ROWS], { most: 28 })).toBe(`${record}\n${record}`)
})

test('a table that fits, or that no terminal shows, is whole', () => {
  const columns = [{ title: 'PACKAGE', of: at(1), cut: 'end' as const }]
  expect(formatTable(columns, ROWS)).toContain('npx://@modelcontextprotocol/server-memory\n')
  expect(formatTable(columns, ROWS, { most: 41 })).toContain('npx://@modelcontextprotocol/server-memory\n')
})

test.each([
  ['red \u001b[31mtext\u001b[0m', 'red text'],
  ['two\r\nlines', 'two lines'],
  ['right\u202eto left', 'right to left'],
  ['bell\u0007', 'bell '],
])('foreign text cannot steer the terminal: %j', (text, shown) => {
  expect(clean(text)).toBe(shown)
})

test('cells are coloured after they were laid out, where colours are shown', () => {
  const state = { title: 'STATE', of: (text: string) => text, colour: () => 'red' as const }
  const next = { title: 'NEXT', of: () => 'x' }
  expect(formatTable([state, next], ['bad'])).toBe('STATE   NEXT\nbad     x\n')
  expect(formatTable([state, next], ['bad'], { colours: true })).toBe(
    'STATE   NEXT\n\u001b[31mbad  \u001b[39m   x\n',
  )
})
