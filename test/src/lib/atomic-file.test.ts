import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFileIfThere, removeLeftBehind, writeFileAtomic } from '../../../src/lib/atomic-file.ts'

const folder = () => mkdtempSync(join(tmpdir(), 'atomic-'))

test('a file is written with its folders, for the owner only', async () => {
  const path = join(folder(), 'a', 'b.json')
  await writeFileAtomic(path, 'text')
  expect(readFileSync(path, 'utf8')).toBe('text')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a failed write leaves the old file and nothing else', async () => {
  const root = folder()
  const path = join(root, 'x')
  writeFileSync(path, 'old')
  const cyclic = { toString: () => 'x' } as unknown as string
  await expect(writeFileAtomic(path, cyclic)).rejects.toThrow()
  expect(readdirSync(root)).toEqual(['x'])
  expect(readFileSync(path, 'utf8')).toBe('old')
})

test('twenty writers at once leave one whole text', async () => {
  const root = folder()
  const path = join(root, 'x')
  const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000))
  await Promise.all(texts.map(text => writeFileAtomic(path, text)))
  expect(texts).toContain(readFileSync(path, 'utf8'))
  expect(readdirSync(root)).toEqual(['x'])
})

test('a missing file is undefined, an unreadable one an error', async () => {
  expect(await readFileIfThere(join(folder(), 'x'))).toBeUndefined()
  await expect(readFileIfThere(folder())).rejects.toThrow('EISDIR')
})

test('what killed writers left goes once it is old, and nothing else does', async () => {
  const root = folder()
  mkdirSync(join(root, 'groups/deeper'), { recursive: true })
  const files = {
    'groups/a.json': true,
    'groups/a.json.4711.k3j2.tmp': false,
    'settings.json.1.x.tmp': false,
    'groups/deeper/b.json.4711.k3j2.tmp': true, // not one of ours lies so deep
    'notes.tmp': true,
  }
  for (const name of Object.keys(files)) writeFileSync(join(root, name), 'x')
  const isThere = async (name: string) => (await readFileIfThere(join(root, name))) !== undefined

  await removeLeftBehind(root)
  for (const name of Object.keys(files)) expect(await isThere(name), name).toBe(true)

  await removeLeftBehind(root, { now: Date.now() + 61 * 60_000 })
  for (const [name, stays] of Object.entries(files)) expect(await isThere(name), name).toBe(stays)
})
