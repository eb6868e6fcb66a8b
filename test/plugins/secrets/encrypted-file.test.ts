import { once } from 'node:events'
import { chmod, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, onTestFinished, test } from 'vitest'
import { createEncryptedFile } from '../../../plugins/secrets/encrypted-file.ts'
import { bundled } from '../../support/bundled.ts'
import { giveToOther, withoutRoot } from '../../support/hostile/other-user.ts'
import { series } from '../../support/series.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const program = bundled(new URL('./writer-program.ts', import.meta.url))
const cost = { log2N: 10, r: 8, p: 1 }

async function newFile({ password = 'correct horse' } = {}) {
  const folder = await temporaryFolder()
  const path = join(folder, 'secrets_encrypted')
  const open = (secret = password) => createEncryptedFile({ path, secret: async () => secret, cost })
  const file = open()
  await file.create('password')
  return { folder, path, file, open }
}

test('what is stored is read again by another process, and no one else may open the file', async () => {
  const { path, file, open } = await newFile()

  await file.change(secrets => void secrets.set('A', 'planted\nvalue ✓'))

  expect(Object.fromEntries(await open().read())).toEqual({ A: 'planted\nvalue ✓' })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await readFile(path)).includes('planted')).toBe(false)
})

test('names that mean something to JavaScript are names like others', async () => {
  const { file, open } = await newFile()
  const odd = ['__proto__', 'constructor', 'toString', '0']

  await file.change(secrets => {
    for (const name of odd) secrets.set(name, `value of ${name}`)
  })

  const found = await open().read()
  for (const name of odd) expect(found.get(name)).toBe(`value of ${name}`)
  expect(found.size).toBe(odd.length)
})

test('an existing file is never replaced by an empty one', async () => {
  const { file, open } = await newFile()
  await file.change(secrets => void secrets.set('A', '1'))

  await open('another password').create('password')

  expect((await open().read()).get('A')).toBe('1')
})

test('of two that make the file at once one password wins, and the other is refused', async () => {
  const path = join(await temporaryFolder(), 'secrets_encrypted')
  const files = ['one password', 'two password'].map(secret =>
    createEncryptedFile({ path, secret: async () => secret, cost }),
  )

  await Promise.all(files.map(file => file.create('password')))
  const outcomes = await Promise.allSettled(files.map(file => file.read()))

  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

test.each(['read', 'change'] as const)(
  'a wrong password fails %s and leaves the file as it is',
  async verb => {
    const { path, file, open } = await newFile()
    await file.change(secrets => void secrets.set('A', '1'))
    const before = await readFile(path)

    const wrong = open('wrong horse')
    const attempt = verb === 'read' ? wrong.read() : wrong.change(secrets => void secrets.set('B', '2'))

    await expect(attempt).rejects.toMatchObject({ code: 'secrets_file_locked' })
    await expect(attempt).rejects.not.toThrow(/horse/)
    expect(await readFile(path)).toEqual(before)
  },
)

test('after a wrong password the right one is asked for again', async () => {
  const { path } = await newFile()
  const typed = ['wrong horse', 'correct horse']
  const file = createEncryptedFile({ path, secret: async () => typed.shift() ?? '', cost })

  await expect(file.read()).rejects.toMatchObject({ code: 'secrets_file_locked' })

  expect((await file.read()).size).toBe(0)
})

test.each([
  ['empty', (path: string) => truncate(path, 0), 'secrets_file_foreign'],
  ['cut in its header', (path: string) => truncate(path, 30), 'secrets_file_foreign'],
  ['cut in its content', (path: string) => truncate(path, 70), 'secrets_file_locked'],
  ['text', (path: string) => writeFile(path, '{"secrets":{}}'), 'secrets_file_foreign'],
])('a file that is %s fails with its path, and stays', async (_, spoil, code) => {
  const { path, file, open } = await newFile()
  await file.change(secrets => void secrets.set('A', '1'))
  await spoil(path)
  const before = await readFile(path)

  const failure = { code, message: expect.stringContaining(path) }
  await expect(open().read()).rejects.toMatchObject(failure)
  await expect(open().change(secrets => void secrets.set('B', '2'))).rejects.toMatchObject(failure)
  await open().create('password')

  expect(await readFile(path)).toEqual(before)
})

test('what the change throws leaves the file as it was', async () => {
  const { path, file } = await newFile()
  const before = await readFile(path)

  const change = file.change(secrets => {
    secrets.set('A', '1')
    throw new Error('no')
  })

  await expect(change).rejects.toThrow('no')
  expect(await readFile(path)).toEqual(before)
})

test('more than 32 MiB is refused, and the file stays', async () => {
  const { path, file } = await newFile()
  const before = await readFile(path)

  const change = file.change(secrets => void secrets.set('A', 'x'.repeat(33 * 1024 * 1024)))

  await expect(change).rejects.toMatchObject({ code: 'secrets_too_large', status: 413 })
  expect(await readFile(path)).toEqual(before)
})

test('a folder that cannot be written fails and leaves the file', async () => {
  const { folder, path } = await newFile()
  const before = await readFile(path)
  await giveToOther(folder)
  await chmod(folder, 0o500)
  onTestFinished(() => chmod(folder, 0o700))

  const ended = await execa(process.execPath, [program, path, 'A', '1'], { ...withoutRoot(), reject: false })

  expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('EACCES') })
  expect(await readFile(path)).toEqual(before)
})

test('many processes that write at once lose nothing', async () => {
  const { path, open } = await newFile()
  const writers = Array.from({ length: series({ usual: 16, long: 50 }) }, (_, i) => `W${i}`)

  await Promise.all(writers.map(writer => execa(process.execPath, [program, path, writer, '3'])))

  expect((await open().read()).size).toBe(writers.length * 3)
}, 120_000)

test('a writer killed at any moment leaves the old file or the new one, and others go on', async () => {
  const { folder, path, file, open } = await newFile()
  await file.change(secrets => void secrets.set('kept', 'value'))
  let written = 0

  for (let round = 0; round < series({ usual: 6, long: 60 }); round++) {
    const child = execa(process.execPath, [program, path, `R${round}`, '100000'], { reject: false })
    await once(child.stdout, 'data')
    const before = (await stat(path)).ino
    // Another moment of the write in each round: the file system is asked 0, 1, 2, … times more.
    while ((await stat(path)).ino === before) await new Promise(setImmediate)
    for (let step = 0; step < round * 3; step++) await readdir(folder)
    child.kill('SIGKILL')
    await child
    const found = await open().read()
    expect(found.get('kept')).toBe('value')
    expect(found.size).toBeGreaterThan(written)
    written = found.size
  }

  await file.change(secrets => void secrets.set('after', '1'))
  expect((await open().read()).get('after')).toBe('1')
})
