import { expect, test } from 'vitest'
import { createRestartPolicy } from '../../../plugins/supervisor/host/restart-policy.ts'

const times = { delays: [1, 2, 5], attempts: 4, stable: 30 }
const crash = { reason: 'exit code 3', isRuntimeAway: false, isFinal: false }

function policy() {
  const made = createRestartPolicy(times)
  made.begin({ reason: 'it crashed', mode: 'resume', ranMs: 0 })
  return made
}

test('the waits grow to the last one, then the server is given up with the last reason', () => {
  const restarts = policy()
  const waits: unknown[] = []
  for (let decision = restarts.next(); 'waitMs' in decision; decision = restarts.next()) {
    waits.push(decision.waitMs)
    restarts.attempt()
    restarts.failed(crash)
  }
  expect(waits).toEqual([1, 2, 5, 5])
  expect(restarts.next()).toEqual({ giveUp: 'Given up after 4 restarts: exit code 3' })
})

test('an instance that fails to resume three times is made anew', () => {
  const restarts = policy()
  const modes = [1, 2, 3, 4].map(() => {
    const mode = restarts.attempt()
    restarts.failed(crash)
    return mode
  })
  expect(modes).toEqual(['resume', 'resume', 'resume', 'create'])
})

test('an attempt while the runtime is away does not count, and makes the status unhealthy', () => {
  const restarts = policy()
  for (let round = 0; round < 10; round++) {
    restarts.attempt()
    restarts.failed({ reason: 'no engine', isRuntimeAway: true, isFinal: false })
  }
  expect(restarts.next()).toEqual({ waitMs: 5, status: 'unhealthy', reason: 'no engine' })
})

test('a final failure ends all attempts at once', () => {
  const restarts = policy()
  restarts.attempt()
  restarts.failed({ reason: 'a mount leads through a link', isRuntimeAway: false, isFinal: true })
  expect(restarts.next()).toEqual({ giveUp: 'a mount leads through a link' })
})

test('a long run resets the count, a short one does not', () => {
  const restarts = policy()
  restarts.attempt()
  restarts.attempt()
  restarts.begin({ reason: 'it crashed', mode: 'resume', ranMs: 29 })
  expect(restarts.next()).toMatchObject({ waitMs: 5 })
  restarts.begin({ reason: 'it crashed', mode: 'resume', ranMs: 30 })
  expect(restarts.next()).toMatchObject({ waitMs: 1, status: 'starting', reason: 'it crashed' })
})
