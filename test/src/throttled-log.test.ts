import { expect, test } from 'vitest'
import { createLog } from '../../src/log.ts'
import { createThrottledLog } from '../../src/throttled-log.ts'

test('a flood of warnings is one line of each kind in a time, which says how many there were', () => {
  const lines: string[] = []
  let time = 0
  const log = createLog({ write: line => lines.push(line), human: false, debug: false })
  const warn = createThrottledLog(log, { everyMs: 1000, now: () => time })
  const logged = () =>
    lines.splice(0).map(line => {
      const { msg, times } = JSON.parse(line)
      return [msg, times]
    })

  for (let n = 0; n < 5; n++) warn('refused', 'a')
  warn('down', 'b')
  expect(logged()).toEqual([
    ['refused', 1],
    ['down', 1],
  ])
  time = 999
  warn('refused', 'a')
  expect(logged()).toEqual([])
  time = 1000
  warn('refused again', 'a')
  expect(logged()).toEqual([['refused again', 6]])
})
