import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type KeelsonUser, keelsonUser } from '../../support/keelson.ts'

/** A user who keeps secrets in a file under a password file. */
async function secretUser(): Promise<KeelsonUser> {
  const user = await keelsonUser()
  await writeFile(join(user.home, 'password'), 'correct horse\n')
  const shown = await user.run(['secret', 'provider', 'encrypted', '--password-file', 'password'])
  expect(shown).toEqual({ code: 0, stdout: '', stderr: '' })
  return user
}

async function saveWorkload({ home }: KeelsonUser, name: string, secrets: string[]): Promise<void> {
  const folder = join(home, '.local/state/keelson/runconfigs')
  await mkdir(folder, { recursive: true })
  const config = { schema_version: 'v0.1.0', name, secrets, image: 'x', transport: 'stdio', port: 4000 }
  await writeFile(join(folder, `${name}.json`), JSON.stringify(config))
}

test('a value is piped in, less one line break, and printed again', async () => {
  const user = await secretUser()

  expect(await user.run(['secret', 'set', 'TOKEN'], { input: 'two\nlines\n\n' })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  })

  expect(await user.run(['secret', 'get', 'TOKEN'])).toEqual({
    code: 0,
    stdout: 'two\nlines\n\n',
    stderr: '',
  })
})

test('names are listed, values never', async () => {
  const user = await secretUser()
  expect((await user.run(['secret', 'list'])).stdout).toBe('There are no secrets.\n')
  expect((await user.run(['secret', 'list', '--format', 'json'])).stdout).toBe('[]\n')
  await user.run(['secret', 'set', 'B'], { input: 'planted' })
  await user.run(['secret', 'set', 'A'], { input: 'planted' })

  expect((await user.run(['secret', 'list'])).stdout).toBe('NAME\nA\nB\n')
  expect(JSON.parse((await user.run(['secret', 'list', '--format', 'json'])).stdout)).toEqual([
    { key: 'A' },
    { key: 'B' },
  ])
})

test('set and delete name the workloads that use the secret', async () => {
  const user = await secretUser()
  await saveWorkload(user, 'one', ['TOKEN,target=A'])
  await saveWorkload(user, 'two', ['TOKEN,target=B'])

  const set = await user.run(['secret', 'set', 'TOKEN'], { input: 'planted' })
  const removed = await user.run(['secret', 'delete', 'TOKEN'])

  expect(set).toMatchObject({ code: 0, stdout: '' })
  expect(set.stderr).toMatch(/^one, two use "TOKEN"/)
  expect(removed).toMatchObject({ code: 0, stdout: '' })
  expect(removed.stderr).toMatch(/^one, two use "TOKEN"/)
  expect((await user.run(['secret', 'get', 'TOKEN'])).code).toBe(1)
})

test('an empty value is refused, and the old one stays', async () => {
  const user = await secretUser()
  await user.run(['secret', 'set', 'A'], { input: 'old' })

  expect(await user.run(['secret', 'set', 'A'], { input: '\n' })).toMatchObject({ code: 2 })

  expect((await user.run(['secret', 'get', 'A'])).stdout).toBe('old\n')
})

test('a value is never an argument', async () => {
  const user = await secretUser()
  const shown = await user.run(['secret', 'set', 'A', 'planted'])
  expect(shown).toMatchObject({ code: 2, stdout: '' })
  expect((await user.run(['secret', 'list'])).stdout).toBe('There are no secrets.\n')
})

test('the path of the password file is remembered, the password is not', async () => {
  const user = await secretUser()
  const settings = await readFile(join(user.home, '.config/keelson/config.json'), 'utf8')

  expect(JSON.parse(settings).secrets).toEqual({
    provider_type: 'encrypted',
    setup_completed: true,
    password_file: join(user.home, 'password'),
  })
  expect(settings).not.toContain('horse')
})

test('a wrong password is one clear error without a stack', async () => {
  const user = await secretUser()
  await user.run(['secret', 'set', 'A'], { input: 'planted' })

  const shown = await user.run(['secret', 'get', 'A'], { env: { KEELSON_SECRETS_PASSWORD: 'wrong' } })

  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toMatch(/^Error: .*secrets_encrypted cannot be opened: the password is wrong/)
  expect(shown.stderr.split('\n')).toHaveLength(3)
})

test('run names every missing secret before anything is fetched or saved', async () => {
  const user = await secretUser()
  const flags = ['--secret', 'ONE,target=A', '--secret', 'TWO,target=B']

  const shown = await user.run(['run', 'npx://no-such-package', '--name', 'x', ...flags])

  expect(shown).toMatchObject({ code: 1, stdout: '' })
  expect(shown.stderr).toMatch(/^Error: These secrets are missing: "ONE", "TWO"\./)
  expect((await user.run(['list', '--all', '--format', 'json'])).stdout).toBe('[]\n')
})

test.each([
  [['secret', 'setup'], 2, '`keelson secret provider TYPE`'],
  [['secret', 'provider', 'nonsense'], 2, 'encrypted, environment, 1password'],
  [['secret', 'provider', 'encrypted'], 1, '--password-file'],
  [['secret', 'provider', 'encrypted', '--key', 'keyring'], 1, 'There is no keyring here'],
  [['secret', 'provider', '1password'], 1, 'OP_SERVICE_ACCOUNT_TOKEN'],
  [['secret', 'reset-keyring'], 2, '--yes'],
  [['secret', 'list'], 1, '`keelson secret setup`'],
  [['run', 'npx://x', '--secret', 'A'], 2, 'NAME,target=VARIABLE'],
  [['run', 'https://example.com/mcp', '--secret', 'A,target=B'], 2, '--secret does not go with the URL'],
])('without a terminal %j says what to do', async (args, code, words) => {
  const user = await keelsonUser()
  const shown = await user.run(args)
  expect(shown).toMatchObject({ code, stdout: '' })
  expect(shown.stderr).toContain(words)
})

test('variables are enough where they are the chosen provider', async () => {
  const user = await keelsonUser()
  const env = { KEELSON_SECRETS_PROVIDER: 'environment', KEELSON_SECRET_A: 'planted' }
  expect((await user.run(['secret', 'get', 'A'], { env })).stdout).toBe('planted\n')
  expect((await user.run(['secret', 'set', 'A'], { env, input: 'x' })).stderr).toContain('cannot store')
})
