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

describe('a link that somebody else has put where all may write is not followed', () => {
  /** What the user names; `link` is the one of somebody else, in the folder `shared`. */
  const places: readonly { where: string; make: (folder: string, link: string) => Promise<string> }[] = [
    { where: 'where the path ends', make: async (_, link) => link },
    {
      where: 'behind a link of the user',
      async make(folder, link) {
        await symlink(link, join(folder, 'own'))
        return join(folder, 'own')
      },
    },
    {
      where: 'behind two of them, one relative',
      async make(folder, link) {
        await symlink(link, join(folder, 'own'))
        await symlink('./own', join(folder, 'first'))
        return join(folder, 'first')
      },
    },
  ]

  test.each(places)('$where', async ({ make }) => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'file'), 'old')
    const link = await othersLink(folder, join(folder, 'file'))
    await expect(writeUserFile(await make(folder, link), 'new')).rejects.toMatchObject({
      code: 'file_unwritable',
      message: expect.stringContaining('another user'),
    })
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('old')
  })

  test('for a folder on the way', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'private'))
    const link = await othersLink(folder, join(folder, 'private'))
    await expect(writeUserFile(join(link, 'file'), 'new')).rejects.toThrow('another user')
    await expect(stat(join(folder, 'private', 'file'))).rejects.toThrow('ENOENT')
  })

  test('but one of the user is, also with .. behind it', async () => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'shared'))
    await chmod(join(folder, 'shared'), 0o1777)
    await mkdir(join(folder, 'far', 'deep'), { recursive: true })
    await symlink('../far/deep', join(folder, 'shared', 'link'))
    await writeUserFile(`${folder}/shared/link/../file`, 'mine')
    expect(await readFile(join(folder, 'far', 'file'), 'utf8')).toBe('mine')
  })

  test('and links in a circle are named', async () => {
    const folder = await temporaryFolder()
    await symlink('b', join(folder, 'a'))
    await symlink('a', join(folder, 'b'))
    await expect(writeUserFile(join(folder, 'a'), 'new')).rejects.toThrow('circle')
  })
})

/** A link of another user in a folder where all may write. Who is not root gets one of their own and another name. */
async function othersLink(folder: string, target: string): Promise<string> {
  if (process.getuid?.() !== 0) {
    const getuid = vi.spyOn(process, 'getuid').mockReturnValue((process.getuid?.() ?? 0) + 1)
    onTestFinished(() => getuid.mockRestore())
    return sharedLink(target)
  }
  const shared = join(folder, 'shared')
  await mkdir(shared)
  await chmod(shared, 0o1777)
  const link = join(shared, 'link')
  await symlink(target, link)
  await lchown(link, 65_534, 65_534)
  return link
}

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
