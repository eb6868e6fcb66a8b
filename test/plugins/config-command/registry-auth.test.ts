import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'

// Each starts the program, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const LOGIN = ['--issuer', 'https://i.example', '--client-id', 'c']

const settingsOf = async ({ home }: KeelsonUser): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(join(home, '.config/keelson/config.json'), 'utf8'))

test('where to log in is set with a registry API, changed and taken back', async () => {
  const user = await keelsonUser()
  const config = (...args: string[]) => user.run(['config', ...args])
  const url = 'https://r.example'
  expect(await config('set-registry', url, ...LOGIN)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await settingsOf(user)).toMatchObject({
    registry_api_url: url,
    registry_auth: {
      type: 'oauth',
      oauth: { issuer: 'https://i.example', client_id: 'c', scopes: ['openid', 'offline_access'] },
    },
  })

  const other = ['--issuer', 'https://j.example', '--client-id', 'd', '--audience', 'a', '--scopes', 's,t']
  expect(await config('set-registry-auth', ...other)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await settingsOf(user)).toMatchObject({
    registry_api_url: url,
    registry_auth: { oauth: { issuer: 'https://j.example', audience: 'a', scopes: ['s', 't'] } },
  })

  expect(await config('unset-registry-auth')).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(await settingsOf(user)).toEqual({ registry_api_url: url })
})

test.each([
  [['set-registry-auth', ...LOGIN], 1, 'has no login'],
  [['set-registry-auth'], 2, 'Give --issuer and --client-id'],
  [['set-registry-auth', '--issuer', 'https://i.example'], 2, 'go together'],
  [['set-registry', 'https://r.example/r.json', ...LOGIN], 1, 'cannot be read'],
])('config %j is refused', async (args, code, text) => {
  const user = await keelsonUser()

  const shown = await user.run(['config', ...args])

  expect(shown).toMatchObject({ code, stdout: '' })
  expect(shown.stderr).toContain(text)
})
