import { expect, test } from 'vitest'
import { createKeptOutcomes } from '../../../src/lib/kept-outcomes.ts'

function counting(options: { most?: number; mostAtOnce?: number } = {}) {
  let time = 0
  let asked = 0
  const kept = createKeptOutcomes<number, string>({ most: 2, mostAtOnce: 10, now: () => time, ...options })
  return {
    at(ms: number) {
      time = ms
    },
    value: (key: string) => kept.get(key, async () => ({ value: ++asked, until: time + 100 })),
    problem: (key: string) => kept.get(key, async () => ({ problem: `no ${++asked}`, until: time + 100 })),
    forget: kept.forget,
    asked: () => asked,
  }
}

test('an outcome counts until its time is over', async () => {
  const kept = counting()
  await kept.value('a')
  kept.at(99)
  expect(kept.value('a')).toEqual({ value: 1, until: 100 })
  kept.at(100)
  expect(await kept.value('a')).toEqual({ value: 2, until: 200 })
})

test('what was not asked for the longest goes first', async () => {
  const kept = counting()
  for (const key of ['a', 'b', 'a', 'c', 'a']) await kept.value(key)
  expect(kept.asked()).toBe(3)
  await kept.value('b')
  expect(kept.asked()).toBe(4)
})

test('problems push out nothing that is good', async () => {
  const kept = counting()
  await kept.value('a')
  for (const key of ['b', 'c', 'd', 'e']) await kept.problem(key)
  await kept.value('a')
  expect(kept.asked()).toBe(5)
})

test('those who ask at the same time share the work, and too many others get nothing', async () => {
  const kept = counting({ mostAtOnce: 1 })
  const [first, same, other] = [kept.value('a'), kept.value('a'), kept.value('b')]
  expect(other).toBeUndefined()
  expect(await first).toBe(await same)
  expect(kept.asked()).toBe(1)
})

test('what throws is asked for again', async () => {
  const kept = createKeptOutcomes<number, string>({ most: 2, mostAtOnce: 1 })
  const failing = async () => Promise.reject(new Error('broken'))
  await expect(kept.get('a', failing)).rejects.toThrow('broken')
  expect(await kept.get('a', async () => ({ value: 1, until: Date.now() + 1000 }))).toMatchObject({
    value: 1,
  })
})
