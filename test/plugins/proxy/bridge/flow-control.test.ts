import { expect, test, vi } from 'vitest'
import { createServerFlow } from '../../../../plugins/proxy/bridge/clients/flow-control.ts'

function start({ stallMs = 60_000 } = {}) {
  let time = 1_000_000
  const limits = { maxBehindEvents: 10, maxBehindBytes: 1000, stallMs, maxWaitMs: 30_000 }
  const flow = createServerFlow({ limits, now: () => time })
  let isPaused = false
  flow.control({
    pause() {
      isPaused = true
      return this as never
    },
    resume() {
      isPaused = false
      return this as never
    },
  })
  const reader = () => ({ onStalled: vi.fn() })
  return {
    flow,
    reader,
    isPaused: () => isPaused,
    pass(ms: number) {
      time += ms
    },
  }
}

test('a client that does not read is waited for once in a minute, with all of its streams', async () => {
  const { flow, reader, isPaused, pass } = start({ stallMs: 10 })
  const eve = flow.of('eve')
  const [first, second, third] = [reader(), reader(), reader()]
  eve.behind(first)
  expect(isPaused()).toBe(true)
  await expect.poll(isPaused).toBe(false)
  expect(first.onStalled).toHaveBeenCalledOnce()
  flow.of('eve').behind(second)
  expect(isPaused()).toBe(false)
  expect(second.onStalled).toHaveBeenCalledOnce()
  const ann = reader()
  flow.of('ann').behind(ann)
  expect(isPaused()).toBe(true)
  flow.of('ann').caughtUp(ann)
  expect(isPaused()).toBe(false)
  pass(60_000)
  eve.behind(third)
  expect(isPaused()).toBe(true)
})

test('a client that reads as slowly as it may is waited for during half of the time', () => {
  const { flow, reader, isPaused, pass } = start()
  const slow = flow.of({})
  const stream = reader()
  for (let n = 0; n < 7; n++) {
    slow.behind(stream)
    expect(isPaused()).toBe(n < 6)
    pass(5000)
    slow.caughtUp(stream)
    expect(isPaused()).toBe(false)
  }
  expect(stream.onStalled).toHaveBeenCalledOnce()
})
