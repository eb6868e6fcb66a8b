import { expect, test } from 'vitest'
import { compareVersions, parseVersion } from '../../../plugins/upgrade/compare-versions.ts'

const order = (a: string, b: string): number => {
  const [first, second] = [parseVersion(a), parseVersion(b)]
  if (!first || !second) throw new Error(`${first ? b : a} is no version`)
  return Math.sign(compareVersions(first, second))
}

test.each([
  ['1.0.0', '0.9.9'],
  ['1.10.0', '1.9.0'],
  ['v2', '1.99'],
  ['V1.2', 'v1.1.9'],
  ['1.0.0', '1.0.0-rc.1'],
  ['1.0.0-rc.1', '1.0.0-beta.11'],
  ['1.0.0-beta.11', '1.0.0-beta.2'],
  ['1.0.0-beta.2', '1.0.0-beta'],
  ['1.0.0-alpha.beta', '1.0.0-alpha.1'],
  ['2026.11.02', '2026.9.30'],
  ['90071992547409930.0.1', '90071992547409930.0.0'],
])('%s is newer than %s', (newer, older) => {
  expect(order(newer, older)).toBe(1)
  expect(order(older, newer)).toBe(-1)
})

test.each([
  ['v1.2.3', '1.2.3'],
  ['1', '1.0.0'],
  ['v1.2', '1.2.0'],
  ['1.2.3+one', '1.2.3+two'],
])('%s is as new as %s', (one, other) => {
  expect(order(one, other)).toBe(0)
})

test.each(['latest', '', 'v', '1.2.3.4', 'main-1', '1.2.x', '1.0.0-', '1.0.0-01', 'vv1', 'a1b2c3'])(
  '"%s" is not a version',
  text => {
    expect(parseVersion(text)).toBeUndefined()
  },
)
