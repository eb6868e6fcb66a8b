import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createMemoryStore } from '../../../plugins/auth-server/storage/memory-store.ts'
import { openStore } from '../../../plugins/auth-server/storage/open-store.ts'
import { sealStore } from '../../../plugins/auth-server/storage/sealed-store.ts'
import { openSqliteStore } from '../../../plugins/auth-server/storage/sqlite-store.ts'
import type { RawStore } from '../../../plugins/auth-server/storage/store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const common = { name: 'test', env: {}, log: console }
const HOUR = 3_600_000

/** A raw store that remembers each entry as it was written. */
function watched() {
  const written: { kind: string; key: string; value: string }[] = []
  const memory = createMemoryStore()
  const raw: RawStore = {
    ...memory,
    add(kind, key, value, lifetimeMs) {
      written.push({ kind, key, value })
      return memory.add(kind, key, value, lifetimeMs)
    },
    replace(kind, key, expected, value, lifetimeMs, newKey) {
      written.push({ kind, key, value })
      return memory.replace(kind, key, expected, value, lifetimeMs, newKey)
    },
  }
  return { raw, written }
}

test('a copied file holds neither keys nor values', async () => {
  const folder = await temporaryFolder()
  const store = await openStore({ type: 'sqlite' }, { ...common, folder, secrets: ['secret'] })
  onTestFinished(() => store.close())
  await store.add('grant', 'refresh-token-of-ada', '{"accessToken":"upstream-token"}', HOUR)
  await store.replace(
    'grant',
    'refresh-token-of-ada',
    '{"accessToken":"upstream-token"}',
    '{"accessToken":"later-upstream-token"}',
    HOUR,
  )
  const files = ['', '-wal', '-shm'].map(suffix => readFile(join(folder, `auth-server.sqlite${suffix}`)))
  const bytes = Buffer.concat(await Promise.all(files)).toString('latin1')
  expect(bytes).toContain('grant')
  for (const secret of ['refresh-token', 'ada', 'upstream-token', 'accessToken']) {
    expect(bytes).not.toContain(secret)
  }
})

test('a copied file opens with its secret only', async () => {
  const folder = await temporaryFolder()
  const open = async (...secrets: string[]) => {
    const store = await openStore({ type: 'sqlite' }, { ...common, folder, secrets })
    onTestFinished(() => store.close())
    return store
  }
  await (await open('secret')).add('grant', 'a', 'value', HOUR)
  expect(await (await open('guess')).get('grant', 'a')).toBeUndefined()
  expect(await (await open('guess')).take('grant', 'a')).toBeUndefined()
  expect(await (await open('secret')).get('grant', 'a')).toBe('value')
})

test('a sealed value does not open under another key or kind', async () => {
  const { raw, written } = watched()
  const store = sealStore(raw, ['secret'])
  await store.add('grant', 'of ada', 'ada', HOUR)
  await store.add('grant', 'of eve', 'eve', HOUR)
  await store.add('code', 'of ada', 'code', HOUR)
  const [ada, eve, code] = written
  if (!ada || !eve || !code) throw new Error('nothing was written')
  await raw.replace('grant', eve.key, eve.value, ada.value, HOUR)
  await raw.replace('code', code.key, code.value, ada.value, HOUR)
  expect(await store.get('grant', 'of eve')).toBeUndefined()
  expect(await store.get('code', 'of ada')).toBeUndefined()
  expect(await store.get('grant', 'of ada')).toBe('ada')
})

test.each([
  ['empty', () => ''],
  ['too short', (value: string) => value.slice(0, 20)],
  ['changed', (value: string) => `${value.slice(0, 30)}${value[30] === 'A' ? 'B' : 'A'}${value.slice(31)}`],
  ['something else', () => '{"not":"sealed"}'],
])('a sealed value that is %s counts as absent', async (_, damage) => {
  const { raw, written } = watched()
  const store = sealStore(raw, ['secret'])
  await store.add('grant', 'a', 'a value that is long enough', HOUR)
  const [entry] = written
  if (!entry) throw new Error('nothing was written')
  await raw.replace('grant', entry.key, entry.value, damage(entry.value), HOUR)
  expect(await store.get('grant', 'a')).toBeUndefined()
  expect(await store.take('grant', 'a')).toBeUndefined()
})

test('two values under one key have different sealed forms, and the same key and value under two secrets too', async () => {
  const { raw, written } = watched()
  const store = sealStore(raw, ['secret'])
  await store.add('grant', 'a', 'one value', HOUR)
  await store.replace('grant', 'a', 'one value', 'two value', HOUR)
  await sealStore(raw, ['other secret']).add('grant', 'a', 'one value', HOUR)
  const heads = written.map(({ value }) => value.slice(0, 16))
  expect(new Set(heads).size).toBe(3)
  expect(new Set(written.map(({ key }) => key)).size).toBe(2)
})

test('what an older secret sealed moves to the first one when it is replaced', async () => {
  const raw = createMemoryStore()
  await sealStore(raw, ['old']).add('grant', 'a', 'before', HOUR)
  const both = sealStore(raw, ['new', 'old'])
  expect(await both.get('grant', 'a')).toBe('before')
  expect(await both.replace('grant', 'a', 'before', 'after', HOUR)).toBe(true)
  expect(await sealStore(raw, ['old']).get('grant', 'a')).toBeUndefined()
  expect(await sealStore(raw, ['new']).get('grant', 'a')).toBe('after')
  expect(await raw.count('grant')).toBe(1)
})

test('what an older secret sealed is not added again', async () => {
  const raw = createMemoryStore()
  await sealStore(raw, ['old']).add('used', 'jti', '1', HOUR)
  const both = sealStore(raw, ['new', 'old'])
  expect(await both.add('used', 'jti', '1', HOUR)).toBe(false)
  expect(await raw.count('used')).toBe(1)
  await both.delete('used', 'jti')
  expect(await both.add('used', 'jti', '1', HOUR)).toBe(true)
})

test('a store in memory is gone with its process; one in a file is not', async () => {
  const folder = await temporaryFolder()
  const options = { ...common, folder, secrets: ['secret'] }
  for (const [type, expected] of [
    ['memory', undefined],
    ['sqlite', 'value'],
  ] as const) {
    const before = await openStore({ type }, options)
    await before.add('grant', 'a', 'value', HOUR)
    await before.close()
    const after = await openStore({ type }, options)
    expect(await after.get('grant', 'a')).toBe(expected)
    await after.close()
  }
})

test('a store that is closed fails as one that cannot be used', async () => {
  const path = join(await temporaryFolder(), 'auth.sqlite')
  const store = await openSqliteStore({ path, log: console })
  await store.close()
  await store.close()
  await expect(store.get('grant', 'a')).rejects.toMatchObject({ code: 'auth_store_unavailable', status: 503 })
})
