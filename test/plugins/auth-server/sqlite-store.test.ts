import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open as openFile, readdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { loadSqlite } from '../../../plugins/auth-server/storage/sqlite-module.ts'
import { openSqliteStore } from '../../../plugins/auth-server/storage/sqlite-store.ts'
import { bundled } from '../../support/bundled.ts'
import { series } from '../../support/series.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const program = bundled(new URL('./kill-store.ts', import.meta.url))
const HOUR = 3_600_000
const file = async () => join(await temporaryFolder(), 'store', 'auth.sqlite')

async function open(path: string) {
  const errors: string[] = []
  const store = await openSqliteStore({ path, log: { error: text => errors.push(String(text)) } })
  onTestFinished(() => store.close())
  return { store, errors }
}

test('the files are for their user alone', async () => {
  const path = await file()
  const { store } = await open(path)
  await store.add('grant', 'a', 'value', HOUR)
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
  const names = (await readdir(dirname(path))).filter(name => !name.endsWith('.lock'))
  expect(names.toSorted()).toEqual(['', '-shm', '-wal'].map(suffix => `${basename(path)}${suffix}`))
  for (const name of names) {
    expect((await stat(join(dirname(path), name))).mode & 0o777, name).toBe(0o600)
  }
})

test('a file that is not a database is set aside with an error, and a new one made', async () => {
  const path = await file()
  await (await open(path)).store.close()
  await writeFile(path, 'this was a database once, and is none any more'.repeat(100))
  const { store, errors } = await open(path)
  expect(errors).toEqual([expect.stringContaining(path)])
  expect(await store.add('grant', 'a', 'value', HOUR)).toBe(true)
  const aside = (await readdir(dirname(path))).filter(name => name.includes('.unreadable-'))
  expect(aside).toHaveLength(1)
})

test('a database whose pages are damaged is set aside', async () => {
  const path = await file()
  const { store } = await open(path)
  for (let index = 0; index < 200; index++) await store.add('grant', `${index}`, 'x'.repeat(400), HOUR)
  await store.close()
  const handle = await openFile(path, 'r+')
  await handle.write(Buffer.alloc(40_000, 0xab), 0, 40_000, 8192)
  await handle.close()
  const { store: next, errors } = await open(path)
  expect(errors).toHaveLength(1)
  expect(await next.count('grant')).toBe(0)
})

test('a file of a newer version is left as it is', async () => {
  const path = await file()
  await (await open(path)).store.close()
  const database = new DatabaseSync(path)
  database.exec('PRAGMA user_version = 99')
  database.close()
  await expect(openSqliteStore({ path, log: console })).rejects.toMatchObject({ code: 'auth_store_newer' })
  expect(await readdir(dirname(path))).not.toContainEqual(expect.stringContaining('unreadable'))
})

test('a file that another process keeps locked is unavailable, not damaged', async () => {
  const path = await file()
  const { store } = await open(path)
  const database = new DatabaseSync(path)
  onTestFinished(() => database.close())
  database.exec('BEGIN EXCLUSIVE')
  await expect(store.add('grant', 'a', 'value', HOUR)).rejects.toMatchObject({
    code: 'auth_store_unavailable',
    status: 503,
  })
  database.exec('ROLLBACK')
  expect(await store.add('grant', 'a', 'value', HOUR)).toBe(true)
})

test('a file that cannot be opened is unavailable', async () => {
  const path = await file()
  await mkdir(path, { recursive: true })
  await expect(openSqliteStore({ path, log: console })).rejects.toMatchObject({
    code: 'auth_store_unavailable',
  })
})

test('loading SQLite warns of nothing and leaves the warnings of others', () => {
  const { emitWarning } = process
  loadSqlite()
  expect(process.emitWarning).toBe(emitWarning)
})

test('nothing that was reported is lost or doubled by kills of processes that share the file', async () => {
  const path = await file()
  const codes = 400
  const { store } = await open(path)
  for (let index = 0; index < codes; index++) await store.add('code', `code-${index}`, 'granted', HOUR)

  const lines: string[] = []
  /** Runs one until it has done so many things, then kills it between any two others. */
  async function killed(number: number, things: number): Promise<void> {
    const child = spawn(process.execPath, [program, path, String(number)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', chunk => {
      text += chunk
      if (text.split('\n').length > things) child.kill('SIGKILL')
    })
    await once(child, 'close')
    lines.push(...text.split('\n').slice(0, -1))
  }
  const rounds = series({ usual: 3, long: 40 })
  for (let round = 0; round < rounds; round++) {
    await Promise.all([killed(2 * round, 7 * round + 5), killed(2 * round + 1, 11 * round + 8)])
  }

  const said = (word: string) =>
    lines.filter(line => line.startsWith(`${word} `)).map(line => line.slice(word.length + 1))
  expect(said('replaced').length).toBeGreaterThan(rounds)
  expect(said('took').length).toBeGreaterThan(rounds)
  for (const key of said('added')) expect(await store.get('grant', key), key).toMatch(/^(old|new)$/)
  for (const key of said('replaced')) expect(await store.get('grant', key), key).toBe('new')
  expect(new Set(said('took')).size).toBe(said('took').length)
  for (const key of said('took')) expect(await store.get('code', key), key).toBeUndefined()
  const database = new DatabaseSync(path)
  onTestFinished(() => database.close())
  const { entries } =
    database.prepare("SELECT count(*) AS entries FROM entries WHERE kind = 'grant'").get() ?? {}
  expect(await store.count('grant')).toBe(entries)
})
