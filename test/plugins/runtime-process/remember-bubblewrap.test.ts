import { chmod, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rememberBubblewrap } from '../../../plugins/runtime-process/remember-bubblewrap.ts'
import { fakeProgram } from '../../support/fake-program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A bubblewrap that works, and notes each time that it is tried. */
async function openHost() {
  const folder = await temporaryFolder()
  await chmod(folder, 0o700)
  const noted = join(folder, 'noted')
  await writeFile(noted, '')
  const { PATH = '' } = await fakeProgram(
    'bwrap',
    `if [ "$1" = --version ]; then echo bubblewrap 0.8.0; else echo tried >> ${noted}; fi`,
  )
  return {
    folder,
    program: join(PATH.split(':')[0] ?? '', 'bwrap'),
    kept: join(folder, 'bubblewrap.json'),
    find: () => rememberBubblewrap(PATH, folder),
    tries: async () => (await readFile(noted, 'utf8')).split('\n').length - 1,
  }
}

test('a bubblewrap that works is tried once', async () => {
  const host = await openHost()
  const first = await host.find()
  expect(first).toMatchObject({ works: true, version: '0.8.0' })
  expect(await host.find()).toEqual(first)
  expect(await host.tries()).toBe(1)
})

test('it is tried again when it has changed, and after a minute', async () => {
  const host = await openHost()
  await host.find()
  await utimes(host.program, 1, 1)
  await host.find()
  expect(await host.tries()).toBe(2)
  const kept = JSON.parse(await readFile(host.kept, 'utf8'))
  await writeFile(host.kept, JSON.stringify({ ...kept, at: Date.now() - 61_000 }))
  await host.find()
  expect(await host.tries()).toBe(3)
})

test('what others may have written is not believed', async () => {
  const host = await openHost()
  await host.find()
  await chmod(host.folder, 0o777)
  await host.find()
  expect(await host.tries()).toBe(2)
})

test('one that does not work is tried each time', async () => {
  const host = await openHost()
  await writeFile(host.program, '#!/bin/sh\nexit 1\n')
  expect(await host.find()).toMatchObject({ works: false })
  await writeFile(host.program, '#!/bin/sh\necho 0.8\n')
  expect(await host.find()).toMatchObject({ works: true })
})
