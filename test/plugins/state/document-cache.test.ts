import { rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDocumentCache } from '../../../plugins/state/document-cache.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A folder with one document, and how often it was parsed. */
async function arrange() {
  const folder = await temporaryFolder()
  const path = join(folder, 'a.json')
  const counted = { parsed: 0 }
  const cache = createDocumentCache(folder, text => {
    counted.parsed++
    return JSON.parse(text) as { n: number }
  })
  await writeFile(path, '{"n":1}')
  /** Reads until it is old enough to be cached. */
  const settle = () =>
    expect
      .poll(() => {
        const before = counted.parsed
        cache.read('a.json', path)
        return counted.parsed - before
      })
      .toBe(0)
  return { folder, path, cache, counted, settle, read: () => cache.read('a.json', path) }
}

test('a file that nobody writes is parsed no more', async () => {
  const { read, counted, settle } = await arrange()
  await settle()
  const before = counted.parsed

  for (let i = 0; i < 10; i++) expect(read()).toEqual({ n: 1 })

  expect(counted.parsed).toBe(before)
})

test('a file that was replaced, or written in its place, is read anew at once', async () => {
  const { folder, path, read, settle } = await arrange()
  await settle()

  await writeFile(join(folder, 'new'), '{"n":2}')
  await rename(join(folder, 'new'), path)
  expect(read()).toEqual({ n: 2 })
  await settle()
  await writeFile(path, '{"n":3}')
  expect(read()).toEqual({ n: 3 })
})

test('a file that was written with an old date is read anew', async () => {
  const { path, read, settle } = await arrange()
  await utimes(path, 1, 1)
  await settle()

  await writeFile(path, '{"n":4}')
  await utimes(path, 1, 1)

  expect(read()).toEqual({ n: 4 })
})

test('a hundred writes one upon the other are each seen', async () => {
  const { folder, path, read } = await arrange()

  for (let n = 10; n < 110; n++) {
    await writeFile(join(folder, 'new'), JSON.stringify({ n }))
    await rename(join(folder, 'new'), path)
    expect(read()).toEqual({ n })
  }
})

test('a removed file has no document, and a new one has', async () => {
  const { path, read, settle } = await arrange()
  await settle()

  await rm(path)
  expect(read()).toBeUndefined()
  await writeFile(path, '{"n":5}')
  expect(read()).toEqual({ n: 5 })
})

test('what is given out cannot be changed by who got it', async () => {
  const { read } = await arrange()

  expect(() => Object.assign(read() ?? {}, { n: 9 })).toThrow(TypeError)
})
