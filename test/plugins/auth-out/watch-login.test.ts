import { expect, onTestFinished, test } from 'vitest'
import { watchLogin } from '../../../plugins/auth-out/logins/watch-login.ts'
import { createLog } from '../../../src/log.ts'
import { until } from '../proxy/test-proxy.ts'

test('a login that cannot be looked at is logged, and looked at again', async () => {
  const lines: string[] = []
  const log = createLog({ write: line => void lines.push(line), human: false, debug: false })
  let renewed = 0
  let looks = 0
  const stop = watchLogin(
    {
      token: undefined,
      hasNewLogin: async () => false,
      async isCurrent() {
        looks++
        if (looks < 3) throw new Error('the note is unreadable')
        return false
      },
      async renew() {
        renewed++
        return undefined
      },
    },
    { log, everyMs: 5 },
  )
  onTestFinished(stop)

  await until(async () => renewed > 0)

  expect(lines.map(line => JSON.parse(line).error)).toEqual(Array(2).fill('the note is unreadable'))
})
