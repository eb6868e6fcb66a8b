import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRotatingFile } from '../../../plugins/supervisor/rotating-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ks-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('lines arrive in order in a private file whose folder need not exist', async () => {
  const path = join(folder, 'logs', 'a.log')
  const file = createRotatingFile(path, { maxBytes: 1000 })
  for (const line of ['1\n', '2\n', '3\n']) file.write(line)
  await file.flush()
  expect(await readFile(path, 'utf8')).toBe('1\n2\n3\n')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('it never grows beyond its size, and the last piece is kept', async () => {
  const path = join(folder, 'a.log')
  const file = createRotatingFile(path, { maxBytes: 100 })
  for (let index = 0; index < 50; index++) {
    file.write(`line ${index}\n`)
    await file.flush()
  }
  expect((await readdir(folder)).sort()).toEqual(['a.log', 'a.log.1'])
  expect((await stat(path)).size).toBeLessThanOrEqual(100)
  expect((await stat(`${path}.1`)).size).toBeLessThanOrEqual(100)
  expect(await readFile(path, 'utf8')).toContain('line 49\n')
})

test('it goes on behind what an earlier process wrote', async () => {
  const path = join(folder, 'a.log')
  await writeFile(path, `${'x'.repeat(95)}\n`)
  const file = createRotatingFile(path, { maxBytes: 100 })
  file.write('hello\n')
  await file.flush()
  expect(await readFile(path, 'utf8')).toBe('hello\n')
  expect(await readFile(`${path}.1`, 'utf8')).toHaveLength(96)
})

test('a place that cannot be written loses lines and does no other harm', async () => {
  await writeFile(join(folder, 'file'), '')
  await chmod(folder, 0o500)
  const file = createRotatingFile(join(folder, 'file', 'a.log'), { maxBytes: 100 })
  file.write('lost\n')
  await file.flush()
  await chmod(folder, 0o700)
  expect(await readdir(folder)).toEqual(['file'])
})
