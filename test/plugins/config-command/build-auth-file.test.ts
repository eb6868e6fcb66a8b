import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { keelsonUser, userWithSecrets } from '../../support/keelson.ts'

// Keys are made from passwords, on purpose slowly.
vi.setConfig({ testTimeout: 180_000 })

const NPMRC = '//npm.example/:_authToken=token-of-npm\n'

test('a file with logins is kept among the secrets, shown on demand and taken back', async () => {
  const user = await userWithSecrets()
  const config = (...args: string[]) => user.run(['config', ...args])
  const set = await user.run(['config', 'set-build-auth-file', 'npmrc', '--stdin'], { input: NPMRC })
  expect(set).toMatchObject({ code: 0, stdout: '', stderr: '' })

  expect((await config('get-build-auth-file')).stdout).toBe('npmrc: set\n')
  expect((await config('get-build-auth-file', 'npmrc', '--show-content')).stdout).toBe(NPMRC)
  expect((await config('get-build-auth-file', 'netrc')).stdout).toBe('netrc is not set for builds.\n')
  const settings = await readFile(join(user.home, '.config/keelson/config.json'), 'utf8')
  expect(settings).toContain('npmrc')
  expect(settings).not.toContain('token-of-npm')
  expect((await user.run(['secret', 'list'])).stdout).not.toContain('npmrc')

  expect(await config('unset-build-auth-file', 'npmrc')).toMatchObject({ code: 0, stdout: '' })
  expect((await config('get-build-auth-file')).stdout).toBe('No file with logins is set for builds.\n')
  expect((await user.run(['secret', 'list', '--system'])).stdout).not.toContain('npmrc')
  expect((await config('unset-build-auth-file', 'npmrc')).stdout).toBe('npmrc is not set for builds.\n')
})

test('CONTENT may be an argument', async () => {
  const user = await userWithSecrets()

  const set = await user.run(['config', 'set-build-auth-file', 'netrc', 'machine a login b password c'])

  expect(set).toMatchObject({ code: 0 })
  const shown = await user.run(['config', 'get-build-auth-file', '--show-content'])
  expect(shown.stdout).toBe('machine a login b password c\n')
})

test('without a place for secrets nothing is set', async () => {
  const user = await keelsonUser()

  const set = await user.run(['config', 'set-build-auth-file', 'npmrc'], { input: NPMRC })

  expect(set).toMatchObject({ code: 1, stdout: '' })
  expect(set.stderr).toContain('keelson secret setup')
  expect((await user.run(['config', 'get-build-auth-file'])).stdout).toContain('No file')
})

test.each([
  [['set-build-auth-file', 'npmcr'], 'Did you mean npmrc?'],
  [['set-build-auth-file', '../npmrc'], 'is not a file with logins'],
  [['set-build-auth-file', 'npmrc', 'x', '--stdin'], '--stdin takes no CONTENT'],
  [['set-build-auth-file', 'npmrc'], 'empty'],
  [['unset-build-auth-file'], '--all'],
  [['unset-build-auth-file', 'npmrc', '--all'], '--all'],
])('config %j is refused', async (args, text) => {
  const user = await keelsonUser()

  const shown = await user.run(['config', ...args])

  expect(shown).toMatchObject({ code: 2, stdout: '' })
  expect(shown.stderr).toContain(text)
})
