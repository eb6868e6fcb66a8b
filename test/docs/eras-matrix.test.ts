import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { erasMatrix } from '../e2e/matrix/page.ts'

test('docs/eras-matrix.md shows what test/e2e/eras-matrix.test.ts found', () => {
  const gaps = JSON.parse(readFileSync('test/e2e/matrix/gaps.json', 'utf8'))
  if (process.env.KEELSON_WRITE_MATRIX) writeFileSync('docs/eras-matrix.md', erasMatrix(gaps))
  expect(readFileSync('docs/eras-matrix.md', 'utf8')).toBe(erasMatrix(gaps))
})
