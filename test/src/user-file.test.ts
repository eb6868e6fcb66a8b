import { execFile } from 'node:child_process'
import { lstat, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { writeUserFile } from '../../src/user-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a link stays a link: the file that it names is replaced', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'far'))
  await writeFile(join(folder, 'far', 'file'), 'old')
  await symlink('far/file', join(folder, 'link'))

  await writeUserFile(join(folder, 'link'), 'new')

  expect((await lstat(join(folder, 'link'))).isSymbolicLink()).toBe(true)
  expect(await readFile(join(folder, 'far', 'file'), 'utf8')).toBe('new')
})

test('a link to a file that is not there yet makes that file', async () => {
  const folder = await temporaryFolder()
  await symlink('later', join(folder, 'link'))

  await writeUserFile(join(folder, 'link'), 'new')

  expect((await lstat(join(folder, 'link'))).isSymbolicLink()).toBe(true)
  expect(await readFile(join(folder, 'later'), 'utf8')).toBe('new')
})

test('into a pipe, also behind a link, the text is written, and the pipe stays', async () => {
  const folder = await temporaryFolder()
  const pipe = join(folder, 'pipe')
  await promisify(execFile)('mkfifo', [pipe])
  await symlink('pipe', join(folder, 'link'))

  for (const path of [pipe, join(folder, 'link')]) {
    const read = readFile(pipe, 'utf8')
    await writeUserFile(path, 'through')
    expect(await read).toBe('through')
  }
  expect((await lstat(pipe)).isFIFO()).toBe(true)
})

test('a file gets the permissions that are asked for, and only its owner reads it without', async () => {
  const folder = await temporaryFolder()
  await writeUserFile(join(folder, 'own'), 'text')
  await writeUserFile(join(folder, 'shared'), 'text', { mode: 0o644 })

  expect((await stat(join(folder, 'own'))).mode & 0o777).toBe(0o600)
  expect((await stat(join(folder, 'shared'))).mode & 0o777).toBe(0o644)
})

test('a folder in the place of the file is refused in words', async () => {
  const folder = await temporaryFolder()
  await expect(writeUserFile(folder, 'text')).rejects.toMatchObject({
    message: expect.stringContaining('it is a folder'),
  })
})
