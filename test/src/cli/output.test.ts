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

test.each([
  ['red \u001b[31mtext\u001b[0m', 'red text'],
  ['two\r\nlines', 'two lines'],
  ['right\u202eto left', 'right to left'],
  ['bell\u0007', 'bell '],
])('foreign text cannot steer the terminal: %j', (text, shown) => {
  expect(clean(text)).toBe(shown)
})
