import { expect, test } from 'vitest'
import { keepChecked } from '../../../plugins/auth-in/tokens/keep-checked.ts'

function counting(exp: number) {
  let time = 1_000_000
  const asked: string[] = []
  const check = keepChecked(
    async token => {
      asked.push(token)
      if (token === 'bad') throw new Error('refused')
      return { subject: token, claims: { exp } }
    },
    { now: () => time },
  )
  return {
    check,
    asked,
    pass(ms: number) {
      time += ms
    },
  }
}

test('a good token is checked again after a minute', async () => {
  const { check, asked, pass } = counting(9_999_999)
  await check('a')
  pass(59_999)
  expect((await check('a')).subject).toBe('a')
  await check('b')
  expect(asked).toEqual(['a', 'b'])
  pass(1)
  await check('a')
  expect(asked).toEqual(['a', 'b', 'a'])
})

test('a good token does not count beyond its end and the leeway of clocks', async () => {
  const { check, asked, pass } = counting(1000)
  await check('a')
  pass(29_999)
  await check('a')
  expect(asked).toEqual(['a'])
  pass(1)
  await check('a')
  expect(asked).toEqual(['a', 'a'])
})

test('a refused token is checked each time', async () => {
  const { check, asked } = counting(9_999_999)
  for (const _ of [1, 2]) await expect(check('bad')).rejects.toThrow('refused')
  expect(asked).toEqual(['bad', 'bad'])
})
