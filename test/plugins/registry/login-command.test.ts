import { expect, test, vi } from 'vitest'
import { keelsonUser } from '../../support/keelson.ts'

// Each starts the program, which takes its time on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

test.each([
  [['login'], 1, 'has no login: only registries with an API have one'],
  [['login', '--registry', './r.json'], 2, 'it is not a URL of an API'],
  [['login', '--registry', 'https://r.example/r.json'], 2, 'it is a file'],
  [['login', '--registry', 'http://r.example'], 2, '--allow-private-ip'],
  [
    ['login', '--registry', 'https://r.example', '--issuer', 'http://i.example'],
    2,
    '--issuer takes an https URL',
  ],
  [['login', '--registry', 'https://r.example', '--callback-port', '70000'], 2, '--callback-port'],
  [['logout'], 1, 'has no login'],
])('registry %j is refused', async (args, code, text) => {
  const user = await keelsonUser()

  const shown = await user.run(['registry', ...args])

  expect(shown).toMatchObject({ code, stdout: '' })
  expect(shown.stderr).toContain(text)
})

test('a password in the address is not shown', async () => {
  const user = await keelsonUser()

  const shown = await user.run(['registry', 'login', '--registry', 'https://ada:s3cret@r.example'])

  expect(shown).toMatchObject({ code: 2, stdout: '' })
  expect(shown.stderr).not.toContain('s3cret')
})

test('without a place for secrets no login begins', async () => {
  const user = await keelsonUser()
  const flags = ['--registry', 'https://r.example', '--issuer', 'https://i.example', '--client-id', 'c']

  const shown = await user.run(['registry', 'login', ...flags])

  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toContain('keelson secret setup')
  expect((await user.run(['config', 'get-registry'])).stdout).toContain('built-in catalogue')
})

test('a provider that cannot store secrets fails before the login begins', async () => {
  const user = await keelsonUser()
  user.env.KEELSON_SECRETS_PROVIDER = 'environment'
  const flags = ['--registry', 'https://r.example', '--issuer', 'https://i.example', '--client-id', 'c']

  const shown = await user.run(['registry', 'login', ...flags])

  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toContain('cannot store secrets')
})
