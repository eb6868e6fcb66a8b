import { describe, expect, test } from 'vitest'
import type { Capacity } from '../../../plugins/auth-server/storage/capacity.ts'
import type { Store } from '../../../plugins/auth-server/storage/store.ts'

const HOUR = 3_600_000
/** So short that a store with a real clock can wait for its end. */
const MOMENT = 40

export interface StoreWorld {
  readonly store: Store
  /** Another process's, or replica's, access to the same storage. */
  readonly other: Store
  /** Lets this many milliseconds pass on the clock of the storage. */
  pass(ms: number): Promise<void>
}

/** What every store does, whatever it keeps its entries in. */
export function storeContract(name: string, open: (capacity: Capacity) => Promise<StoreWorld>): void {
  const most: Capacity = { pending: 5, code: 500, client: 5, grant: 500, consent: 5, upstream: 5, used: 5 }

  describe(`the store ${name}`, () => {
    test('returns what was added, to every process', async () => {
      const { store, other } = await open(most)
      expect(await store.add('grant', 'a', 'ü "value"\n', HOUR)).toBe(true)
      expect(await store.get('grant', 'a')).toBe('ü "value"\n')
      expect(await other.get('grant', 'a')).toBe('ü "value"\n')
    })

    test('keeps kinds apart', async () => {
      const { store } = await open(most)
      await store.add('grant', 'a', 'of the grant', HOUR)
      await store.add('client', 'a', 'of the client', HOUR)
      await store.delete('client', 'a')
      expect(await store.get('grant', 'a')).toBe('of the grant')
      expect(await store.get('client', 'a')).toBeUndefined()
    })

    test('adds nothing under a key that is there', async () => {
      const { store, other } = await open(most)
      expect(await store.add('used', 'jti', 'first', HOUR)).toBe(true)
      expect(await other.add('used', 'jti', 'second', HOUR)).toBe(false)
      expect(await store.get('used', 'jti')).toBe('first')
    })

    test('gives an entry to one of many that take it', async () => {
      const { store, other } = await open(most)
      for (let round = 0; round < 20; round++) {
        await store.add('code', `code-${round}`, 'granted', HOUR)
        const taken = await Promise.all(
          Array.from({ length: 10 }, (_, index) => (index % 2 ? store : other).take('code', `code-${round}`)),
        )
        expect(taken.filter(value => value === 'granted')).toHaveLength(1)
        expect(taken.filter(value => value === undefined)).toHaveLength(9)
      }
    })

    test('lets one of many replace a value that all of them expect', async () => {
      const { store, other } = await open(most)
      await store.add('grant', 'a', '0', HOUR)
      for (let round = 0; round < 20; round++) {
        const done = await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            (index % 2 ? store : other).replace('grant', 'a', `${round}`, `${round + 1}`, HOUR),
          ),
        )
        expect(done.filter(Boolean)).toHaveLength(1)
      }
      expect(await store.get('grant', 'a')).toBe('20')
    })

    test('replaces nothing that is not there or is another value', async () => {
      const { store } = await open(most)
      expect(await store.replace('grant', 'a', 'old', 'new', HOUR)).toBe(false)
      expect(await store.get('grant', 'a')).toBeUndefined()
      await store.add('grant', 'a', 'other', HOUR)
      expect(await store.replace('grant', 'a', 'old', 'new', HOUR)).toBe(false)
      expect(await store.get('grant', 'a')).toBe('other')
    })

    test('never returns, replaces or gives away what has expired, and adds in its place', async () => {
      const { store, other, pass } = await open(most)
      for (const key of ['get', 'take', 'replace', 'add']) await store.add('grant', key, 'old', MOMENT)
      await pass(MOMENT)
      expect(await store.get('grant', 'get')).toBeUndefined()
      expect(await store.take('grant', 'take')).toBeUndefined()
      expect(await store.replace('grant', 'replace', 'old', 'new', HOUR)).toBe(false)
      expect(await other.add('grant', 'add', 'new', HOUR)).toBe(true)
      expect(await store.get('grant', 'add')).toBe('new')
    })

    test('gives a replaced value its own lifetime', async () => {
      const { store, pass } = await open(most)
      await store.add('grant', 'longer', 'old', HOUR)
      await store.add('grant', 'shorter', 'old', HOUR)
      await store.replace('grant', 'longer', 'old', 'new', 2 * HOUR)
      await store.replace('grant', 'shorter', 'old', 'new', MOMENT)
      await pass(MOMENT)
      expect(await store.get('grant', 'longer')).toBe('new')
      expect(await store.get('grant', 'shorter')).toBeUndefined()
    })

    test('takes no more entries of a kind than there is room for', async () => {
      const { store, other } = await open(most)
      const added = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 ? store : other).add('client', `${index}`, 'x', HOUR),
        ),
      )
      expect(added.filter(Boolean)).toHaveLength(5)
      expect(await store.count('client')).toBe(5)
      expect(await store.add('pending', 'another kind', 'x', HOUR)).toBe(true)
    })

    test('has room again when entries are removed or have expired', async () => {
      const { store, pass } = await open(most)
      for (const key of ['1', '2', '3']) await store.add('client', key, 'x', MOMENT)
      for (const key of ['4', '5']) await store.add('client', key, 'x', HOUR)
      await store.delete('client', '4')
      await store.take('client', '5')
      await store.take('client', '5')
      await pass(MOMENT)
      for (const key of ['6', '7', '8', '9', '10']) {
        expect(await store.add('client', key, 'x', HOUR), key).toBe(true)
      }
      expect(await store.add('client', '11', 'x', HOUR)).toBe(false)
      expect(await store.count('client')).toBe(5)
    })

    test('takes many entries at once', async () => {
      const { store, other } = await open(most)
      const keys = Array.from({ length: 300 }, (_, index) => `grant-${index}`)
      const added = await Promise.all(
        keys.map((key, index) => (index % 2 ? store : other).add('grant', key, `value of ${key}`, HOUR)),
      )
      expect(added.every(Boolean)).toBe(true)
      expect(await Promise.all(keys.map(key => other.get('grant', key)))).toEqual(
        keys.map(key => `value of ${key}`),
      )
    })

    test('treats keys and values as texts without a meaning', async () => {
      const { store } = await open(most)
      const odd = [
        "'; DROP TABLE entries; --",
        '*',
        '\r\nFLUSHALL\r\n',
        '{a}:b',
        '__proto__',
        'x'.repeat(5000),
      ]
      for (const [index, key] of odd.entries()) {
        expect(await store.add('grant', key, key, HOUR)).toBe(true)
        expect(await store.get('grant', key)).toBe(key)
        expect(await store.count('grant')).toBe(index + 1)
      }
    })
  })
}
