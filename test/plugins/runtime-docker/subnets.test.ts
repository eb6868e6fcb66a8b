import { expect, test } from 'vitest'
import {
  candidates,
  DEFAULT_RANGE,
  nextAddress,
  parseRange,
} from '../../../plugins/runtime-docker/isolation/subnets.ts'

const range = parseRange(DEFAULT_RANGE)
if (!range) throw new Error('the default range cannot be read')

test('a name begins at the same place every time, within its half', () => {
  const first = (half: 0 | 1) => candidates(range, { name: 'one', half }).next().value?.gateway
  expect(first(0)).toBe(first(0))
  expect(Number(first(0)?.split('.')[2])).toBeLessThan(128)
  expect(Number(first(1)?.split('.')[2])).toBeGreaterThanOrEqual(128)
})

test('every network of the half is tried once', () => {
  const all = [...candidates(range, { name: 'one', half: 0 })].map(({ cidr }) => cidr)
  expect(all).toHaveLength(4096)
  expect(new Set(all).size).toBe(4096)
})

test('a network that overlaps another is reported', () => {
  const small = parseRange('10.0.0.0/28')
  if (!small) throw new Error('unreadable')
  const [only] = candidates(small, { name: 'x', half: 1 })
  expect(only?.cidr).toBe('10.0.0.8/29')
  expect(only?.overlaps([{ first: 0x0a000008, size: 8 }])).toBe(true)
  expect(only?.overlaps([{ first: 0x0a000000, size: 2 ** 24 }])).toBe(true)
  expect(only?.overlaps([{ first: 0x0a00000f, size: 1 }])).toBe(true)
  expect(only?.overlaps([{ first: 0x0a000000, size: 8 }])).toBe(false)
  expect(only?.overlaps([{ first: 0x0a000010, size: 16 }])).toBe(false)
})

test('the instance has the address behind the gateway', () => {
  expect(nextAddress('10.213.0.1')).toBe('10.213.0.2')
  expect(nextAddress('10.213.0.255')).toBe('10.213.1.0')
})

test.each(['', '10.0.0.0', '10.0.0.0/29', '10.0.0.0/33', '10.0.0/16', '300.0.0.0/16', '0.0.0.0/0', 'x/16'])(
  '"%s" is not a range for networks',
  text => expect(parseRange(text)).toBeUndefined(),
)
