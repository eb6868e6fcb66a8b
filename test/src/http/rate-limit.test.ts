import { expect, test } from 'vitest'
import { callerOf, createRateLimit } from '../../../src/http/rate-limit.ts'

function arrange(perSecond: number) {
  const clock = { now: 0 }
  return { clock, limit: createRateLimit({ perSecond, now: () => clock.now }) }
}

test('ten seconds of requests may come at once, then one for each that is earned', () => {
  const { clock, limit } = arrange(2)

  for (let i = 0; i < 20; i++) expect(limit.take('a')).toBeUndefined()
  expect(limit.take('a')).toBe(1)
  clock.now += 500
  expect(limit.take('a')).toBeUndefined()
  expect(limit.take('a')).toBe(1)
})

test('who is refused does not wait longer for that', () => {
  const { clock, limit } = arrange(1)
  for (let i = 0; i < 100; i++) limit.take('a')

  clock.now += 1000

  expect(limit.take('a')).toBeUndefined()
})

test('one caller does not use up what another has', () => {
  const { limit } = arrange(1)
  for (let i = 0; i < 100; i++) limit.take('a')

  expect(limit.take('b')).toBeUndefined()
})

test('nothing is limited at 0', () => {
  const { limit } = arrange(0)

  for (let i = 0; i < 1000; i++) expect(limit.take('a')).toBeUndefined()
})

test('however many callers there are, those that were quiet are forgotten', () => {
  const { limit } = arrange(1)
  for (let i = 0; i < 20; i++) limit.take('first')
  expect(limit.take('first')).toBe(1)

  for (let i = 0; i < 10_000; i++) limit.take(`other-${i}`)

  expect(limit.take('first')).toBeUndefined()
})

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
])('%s belongs to the caller %s', (address, caller) => {
  expect(callerOf(address)).toBe(caller)
})

test('all who come by socket are one caller: its user', () => {
  expect(callerOf(undefined)).toBe(callerOf(undefined))
})
