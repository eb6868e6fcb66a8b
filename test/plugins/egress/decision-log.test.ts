import { beforeEach, expect, test, vi } from 'vitest'
import type { Decision } from '../../../plugins/egress/decision.ts'
import { createDecisionLog } from '../../../plugins/egress/decision-log.ts'
import { createLog } from '../../../src/log.ts'

beforeEach(() => {
  vi.useFakeTimers()
  return () => vi.useRealTimers()
})

const denial = (host: string): Decision => ({
  allowed: false,
  rule: 'not_in_allow_host',
  reason: 'because',
  host,
  port: 443,
  addresses: [],
})

function makeLog(maxLines?: number) {
  const lines: Record<string, unknown>[] = []
  const log = createLog({ write: line => lines.push(JSON.parse(line)), human: false, debug: false })
  return { lines, log: createDecisionLog({ log, windowMs: 60_000, ...(maxLines ? { maxLines } : {}) }) }
}

test('a denial is written at once, its repeats as a count after a minute', () => {
  const { lines, log } = makeLog()
  for (let i = 0; i < 1000; i++) log.record(denial('a.test'))
  expect(lines).toHaveLength(1)

  vi.advanceTimersByTime(60_000)

  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatchObject({ msg: 'egress denied again', host: 'a.test', times: 999 })
})

test('after a minute the same denial gets a line again', () => {
  const { lines, log } = makeLog()
  log.record(denial('a.test'))
  vi.advanceTimersByTime(60_000)
  log.record(denial('a.test'))
  expect(lines.map(line => line.msg)).toEqual(['egress denied', 'egress denied'])
})

test('ever new names cannot fill the disk', () => {
  const { lines, log } = makeLog(10)
  for (let i = 0; i < 1000; i++) log.record(denial(`${i}.test`))
  vi.advanceTimersByTime(60_000)
  expect(lines).toHaveLength(11)
  expect(lines[10]).toMatchObject({ msg: 'egress denied to many destinations', times: 990 })
})

test('what is still counted is written when the listener closes, and no timer is left', () => {
  const { lines, log } = makeLog()
  log.record(denial('a.test'))
  log.record(denial('a.test'))
  log.close()
  expect(lines[1]).toMatchObject({ times: 1 })
  expect(vi.getTimerCount()).toBe(0)
})
