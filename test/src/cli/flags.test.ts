import { expect, test } from 'vitest'
import { flag } from '../../../src/cli/flags.ts'

test.each([
  ['30s', 30_000],
  ['2m30s', 150_000],
  ['1.5h', 5_400_000],
  ['0', 0],
])('a duration of %s is %d ms', (text, ms) => {
  expect(flag.duration('d').parse(text, 'timeout')).toBe(ms)
})

test.each(['30', '-1s', '1d', '', 's', '1 s'])('"%s" is not a duration', text => {
  expect(() => flag.duration('d').parse(text, 'timeout')).toThrow('--timeout takes a duration')
})

test.each(['0', '65536', '80a', '-1', '', '1.5', '1e3'])('"%s" is not a port', text => {
  expect(() => flag.port('p').parse(text, 'proxy-port')).toThrow(
    `--proxy-port takes a whole number from 1 to 65535, not "${text}"`,
  )
})

test('a wrong choice fails with the right ones and the nearest', () => {
  const parse = () => flag.choice('c', ['stdio', 'sse']).parse('stdo', 'transport')
  expect(parse).toThrow('--transport takes one of stdio, sse, not "stdo".')
  expect(() => flag.choice('c', ['stdio', 'sse']).parse('x', 'transport')).toThrow()
})

test('a list keeps commas, a comma list splits at them', () => {
  expect(flag.list('l', 'X').parse('a,b', 'l')).toEqual(['a,b'])
  expect(flag.commaList('l', 'X').parse('a, b,', 'l')).toEqual(['a', 'b'])
})
