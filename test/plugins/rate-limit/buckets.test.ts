import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BucketLimit, refill, take, waitFor } from '../../../plugins/rate-limit/buckets/bucket.ts'
import { createMemoryBuckets } from '../../../plugins/rate-limit/buckets/memory-buckets.ts'
import { createKeys } from '../../../plugins/rate-limit/keys.ts'

const limits = fc.record({
  maxTokens: fc.integer({ min: 1, max: 1_000_000 }),
  periodMs: fc.integer({ min: 1, max: 30 * 24 * 3_600_000 }),
})

/** What a bucket lets through, in exact fractions: refilled tokens are `elapsed * maxTokens / periodMs`. */
function model({ maxTokens, periodMs }: BucketLimit) {
  const full = BigInt(maxTokens) * BigInt(periodMs)
  let level = full
  let at = 0n
  return (now: number, tokens: number): boolean => {
    const elapsed = BigInt(Math.max(0, now)) - at
    if (elapsed > 0n)
      level = level + elapsed * BigInt(maxTokens) > full ? full : level + elapsed * BigInt(maxTokens)
    at = BigInt(Math.max(0, now))
    if (level < BigInt(tokens) * BigInt(periodMs)) return false
    level -= BigInt(tokens) * BigInt(periodMs)
    return true
  }
}

const steps = fc.array(
  fc.record({
    pass: fc.oneof(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 1_000_000_000 })),
    tokens: fc.integer({ min: 1, max: 5 }),
  }),
  { minLength: 1, maxLength: 60 },
)

test('a bucket lets through exactly what fractions say, also where the clock goes back', () => {
  fc.assert(
    fc.property(limits, steps, (limit, made) => {
      const passes = model(limit)
      let bucket = { debt: 0, at: 0 }
      let now = 0
      for (const { pass, tokens } of made) {
        now = Math.max(0, now + pass)
        bucket = refill(bucket, limit, now)
        const isFree = waitFor(bucket, limit, tokens) === 0
        if (isFree) bucket = take(bucket, limit, tokens)
        expect(isFree).toBe(passes(now, tokens))
        expect(Number.isSafeInteger(bucket.debt) && bucket.debt >= 0).toBe(true)
      }
    }),
    { numRuns: 500 },
  )
})

test('after the time to wait there is a token, and a millisecond before there is none', () => {
  fc.assert(
    fc.property(limits, fc.integer({ min: 0, max: 1_000_000 }), ({ maxTokens, periodMs }, spent) => {
      const limit = { maxTokens, periodMs }
      const bucket = { debt: Math.min(spent, maxTokens) * periodMs, at: 0 }
      const wait = waitFor(bucket, limit, 1)
      expect(waitFor(refill(bucket, limit, wait), limit, 1)).toBe(0)
      if (wait > 0) expect(waitFor(refill(bucket, limit, wait - 1), limit, 1)).toBe(1)
    }),
    { numRuns: 1000 },
  )
})

test('a flood of users neither grows the buckets without bound nor resets one', () => {
  let now = 0
  const limit = { maxTokens: 2, periodMs: 1000 }
  const buckets = createMemoryBuckets({ now: () => now, most: 100 })
  const ask = (key: string) => buckets.take([{ key, limit, tokens: 1 }])
  expect([ask('ann'), ask('ann')]).toEqual([undefined, undefined])
  const outcomes = Array.from({ length: 10_000 }, (_, index) => ask(`user ${index}`))
  expect(outcomes.filter(outcome => outcome === undefined)).toHaveLength(99)
  expect(buckets.size).toBe(100)
  expect(ask('ann')).toEqual({ index: 0, waitMs: 500 })
  now = 1000
  expect(ask('new')).toBeUndefined()
  expect(buckets.size).toBeLessThan(100)
})

test('buckets that are full again go while others come', () => {
  let now = 0
  const buckets = createMemoryBuckets({ now: () => now })
  for (let index = 0; index < 20_000; index++) {
    now += 10
    expect(
      buckets.take([{ key: `${index}`, limit: { maxTokens: 1, periodMs: 1000 }, tokens: 1 }]),
    ).toBeUndefined()
  }
  expect(buckets.size).toBeLessThan(500)
})

const names = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'a:b',
    'user:local',
    '}:user:x',
    '{x}',
    '\ud800',
    '\udfff',
    '\0',
    '',
  ),
)
const callers = fc.option(fc.record({ subject: names, issuer: fc.option(names, { nil: undefined }) }))

test('no names make the key of another bucket', () => {
  const bucketsOf = fc.record({
    kind: fc.constantFrom('shared', 'user', 'tool', 'userTool'),
    name: names,
    caller: callers,
  })
  fc.assert(
    fc.property(bucketsOf, bucketsOf, names, (one, other, workload) => {
      const keys = createKeys({ name: workload })
      const keyOf = ({ kind, name, caller: said }: typeof one) => {
        const caller = said ? { ...said, claims: {} } : undefined
        if (kind === 'user') return [keys.user(caller), { kind, said }]
        if (kind === 'tool') return [keys.tool(name), { kind, name }]
        return kind === 'shared'
          ? [keys.shared(), { kind }]
          : [keys.userTool(name, caller), { kind, name, said }]
      }
      const [[a, whatA], [b, whatB]] = [keyOf(one), keyOf(other)]
      expect(a === b).toBe(JSON.stringify(whatA) === JSON.stringify(whatB))
      expect(a).toMatch(/^keelson:limit:\{[^{}:]*\}:[\x21-\x7e]+$/)
    }),
    { numRuns: 2000 },
  )
})
