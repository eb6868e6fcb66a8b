import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, lchown, lstat, mkdir, readFile, stat, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { readBounded, TooSlow } from '../../src/lib/read-bounded.ts'
import { readUserBytes, readUserFile, writeUserFile } from '../../src/user-file.ts'
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

test('a link that somebody else has put where all may write is not followed', async () => {
  const folder = await temporaryFolder()
  const shared = join(folder, 'shared')
  await mkdir(shared)
  await chmod(shared, 0o1777)
  await writeFile(join(folder, 'file'), 'old')
  const link = join(shared, 'link')
  await symlink('../file', link)
  await writeUserFile(link, 'mine')
  const { uid } = await lstat(link)
  const isRoot = uid === 0
  if (isRoot) await lchown(link, 65_534, 65_534)
  const other = isRoot ? link : await sharedLink(join(folder, 'file'))
  if (!isRoot) {
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1)
    onTestFinished(() => getuid.mockRestore())
  }

  await expect(writeUserFile(other, 'new')).rejects.toMatchObject({
    code: 'file_unwritable',
    message: expect.stringContaining('another user'),
  })
  expect(await readFile(join(folder, 'file'), 'utf8')).toBe('mine')
})

/** A link in the folder for temporary files, which belongs to root. */
async function sharedLink(target: string): Promise<string> {
  const link = join(tmpdir(), `keelson-link-${randomUUID()}`)
  await symlink(target, link)
  onTestFinished(() => unlink(link))
  return link
}

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

const makePipe = async () => {
  const path = join(await temporaryFolder(), 'pipe')
  await promisify(execFile)('mkfifo', [path])
  return path
}

describe('a file to read', () => {
  test('is a regular file, a link to one, or an empty one', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'file'), 'text')
    await symlink('file', join(folder, 'link'))
    await writeFile(join(folder, 'empty'), '')
    expect(await readUserFile(join(folder, 'link'), 'The file')).toBe('text')
    expect(await readUserFile(join(folder, 'empty'), 'The file')).toBe('')
  })

  test('may be a pipe whose writer comes later and writes in parts', async () => {
    const path = await makePipe()
    const text = 'x'.repeat(300_000)
    const read = readUserFile(path, 'The file')
    await writeFile(path, text)
    expect(await read).toBe(text)
  })

  test('is no pipe where it is read again and again', async () => {
    const path = await makePipe()
    await expect(readUserFile(path, 'The file', { pipes: false })).rejects.toMatchObject({
      code: 'file_unreadable',
      message: `The file ${path} cannot be read: it is not a regular file.`,
    })
  })

  test('of a pipe into which nobody writes is given up', async () => {
    const path = await makePipe()
    const read = readBounded(path, async () => 'pipe', { most: 10, waitMs: 50 })
    await expect(read).rejects.toBeInstanceOf(TooSlow)
  })

  test.each([
    ['a folder', '/tmp', 'it is a folder.'],
    ['a device', '/dev/zero', 'it is not a regular file or a pipe.'],
    ['a terminal', '/dev/ptmx', 'it is not a regular file or a pipe.'],
  ])('is not %s', async (_what, path, problem) => {
    await expect(readUserFile(path, 'The file')).rejects.toMatchObject({
      code: 'file_unreadable',
      message: `The file ${path} cannot be read: ${problem}`,
    })
  })

  test('has an upper bound', async () => {
    const path = join(await temporaryFolder(), 'file')
    await writeFile(path, 'x'.repeat(100))
    expect(await readUserBytes(path, 'The file', { most: 100 })).toHaveLength(100)
    await expect(readUserFile(path, 'The file', { most: 99 })).rejects.toMatchObject({
      message: expect.stringContaining('longer than 99 bytes'),
    })
  })
})
