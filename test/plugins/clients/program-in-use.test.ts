import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { foldersIn, programInUse } from '../../../plugins/clients/program-in-use.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Node and keelson as a package manager installs them: a folder for the version, and names that lead there. */
async function installation() {
  const root = await temporaryFolder()
  const install = async (version: string) => {
    await mkdir(join(root, version))
    for (const file of ['node', 'main.js']) {
      await writeFile(join(root, version, file), '')
      await chmod(join(root, version, file), 0o755)
    }
    await mkdir(join(root, 'bin'), { recursive: true })
    for (const [name, file] of [
      ['node', 'node'],
      ['keelson', 'main.js'],
    ] as const) {
      await rm(join(root, 'bin', name), { force: true })
      await symlink(join(root, version, file), join(root, 'bin', name))
    }
    return [join(root, version, 'node'), join(root, version, 'main.js')] as const
  }
  return { root, install, names: [join(root, 'bin/node'), join(root, 'bin/keelson')] as const }
}

test('names in PATH are taken, and lead to the next version after an upgrade', async () => {
  const { root, install, names } = await installation()
  const running = await install('1.0')
  const path = ['/nowhere', join(root, 'bin')].join(delimiter)
  expect(await programInUse({ running, path, written: [] })).toEqual(names)
  const next = await install('2.0')
  await rm(join(root, '1.0'), { recursive: true })
  expect(await programInUse({ running: next, path: '/nowhere', written: [names] })).toEqual(names)
})

test('a folder of PATH that is a link of one shell is not written', async () => {
  const { root, install, names } = await installation()
  const running = await install('1.0')
  await symlink(join(root, 'bin'), join(root, 'shell-4711'))
  expect(await programInUse({ running, path: join(root, 'shell-4711'), written: [] })).toEqual(names)
})

test('without a name that leads to the program, the program itself is written', async () => {
  const { install } = await installation()
  const running = await install('1.0')
  expect(await programInUse({ running, path: undefined, written: [] })).toEqual(running)
})

test('what was written before is replaced once it leads nowhere, or to another program', async () => {
  const { root, install } = await installation()
  const before = await install('1.0')
  const running = await install('2.0')
  const gone = [join(root, 'gone/node'), running[1]] as const
  expect(await programInUse({ running, path: '', written: [before, gone] })).toEqual(running)
})

test('variables that move the folders of keelson are told to the client', () => {
  expect(foldersIn({ XDG_DATA_HOME: '/data', XDG_STATE_HOME: 'relative', HOME: '/home/me' })).toEqual({
    XDG_DATA_HOME: '/data',
  })
})
