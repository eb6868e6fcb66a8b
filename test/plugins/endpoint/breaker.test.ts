import { expect, test } from 'vitest'
import { createBreaker, type Outcome } from '../../../plugins/endpoint/server/breaker.ts'

function opened() {
  let now = 0
  const breaker = createBreaker(() => now)
  const call = (outcome: Outcome, server = 'a') => {
    const turn = breaker.begin(server)
    if ('end' in turn) turn.end(outcome)
    return 'end' in turn ? outcome : turn.seconds
  }
  const pass = (ms: number) => {
    now += ms
  }
  return { breaker, call, pass }
}

test('after five calls in a row without a response further ones are refused, of that server alone', () => {
  const { call } = opened()
  for (let count = 0; count < 4; count += 1) call('failed')
  call('responded')
  for (let count = 0; count < 5; count += 1) expect(call('failed')).toBe('failed')
  expect(call('responded')).toBe(15)
  expect(call('responded', 'b')).toBe('responded')
})

test('one call tries again after a while, alone; its response lets all others pass', () => {
  const { breaker, call, pass } = opened()
  for (let count = 0; count < 5; count += 1) call('failed')
  pass(15_000)
  const trial = breaker.begin('a')
  expect(call('responded')).toBe(1)
  if ('end' in trial) trial.end('failed')
  expect(call('responded')).toBe(15)
  pass(15_000)
  expect(call('none')).toBe('none')
  expect(call('responded')).toBe('responded')
  expect(call('failed')).toBe('failed')
  expect(call('responded')).toBe('responded')
})
