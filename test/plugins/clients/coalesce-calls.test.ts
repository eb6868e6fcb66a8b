import { expect, test } from 'vitest'
import { coalesceCalls } from '../../../plugins/clients/coalesce-calls.ts'

test('calls during a round share one more, which begins after all of them', async () => {
  const begun: PromiseWithResolvers<number>[] = []
  const call = coalesceCalls(() => {
    const round = Promise.withResolvers<number>()
    begun.push(round)
    return round.promise
  })
  const first = call()
  await Promise.resolve()
  const others = [call(), call(), call()]
  await Promise.resolve()
  expect(begun).toHaveLength(1)
  begun[0]?.resolve(1)
  expect(await first).toBe(1)
  await new Promise(setImmediate)
  expect(begun).toHaveLength(2)
  begun[1]?.resolve(2)
  expect(await Promise.all(others)).toEqual([2, 2, 2])
})

test('a round that fails fails for those who waited for it, and not for the next', async () => {
  let rounds = 0
  const call = coalesceCalls(async () => {
    if (rounds++ === 0) throw new Error('once')
    return rounds
  })
  await expect(call()).rejects.toThrow('once')
  expect(await call()).toBe(2)
})
