import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openKeyring } from '../../../plugins/secrets/keyring.ts'
import { createEncryptedProvider } from '../../../plugins/secrets/providers/encrypted.ts'
import type { SecretsContext } from '../../../src/contracts/secrets.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { fakeKeyring } from './fake-keyring.ts'

const noKeyring = () => openKeyring({ load: () => Promise.reject(new Error('ERR_MODULE_NOT_FOUND')) })

/** One machine: a folder, perhaps a keyring, and providers as processes on it make them. */
async function machine({ keyring }: { keyring?: ReturnType<typeof fakeKeyring> } = {}) {
  const folder = await temporaryFolder()
  const path = join(folder, 'secrets_encrypted')
  const provider = ({ env = {}, ...context }: SecretsContext & { env?: Record<string, string> } = {}) =>
    createEncryptedProvider({
      path,
      env,
      context,
      keyring: keyring ? () => openKeyring({ load: async () => keyring }) : noKeyring,
      cost: { log2N: 10, r: 8, p: 1 },
    })
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  return { path, provider, write }
}

const typing = (...answers: string[]) => ({ ask: async () => answers.shift() ?? '' })

test('with a keyring a random key is made, and every later process opens the file with it', async () => {
  const keyring = fakeKeyring()
  const { provider } = await machine({ keyring })
  await provider().prepare()

  await provider().set?.('A', 'planted')

  expect(await provider().find('A')).toBe('planted')
  expect([...keyring.items.keys()]).toEqual(['keelson/secrets'])
  expect(Buffer.from([...keyring.items.values()][0] ?? '', 'base64url')).toHaveLength(32)
})

test("only a keyring that outlives a restart counts: the kernel's is not asked", async () => {
  const keyring = fakeKeyring()
  await openKeyring({ load: async () => keyring })
  expect(keyring.stores).toEqual([{ linux: { store: 'secret-service' } }])
})

test('two processes that begin at once share one key', async () => {
  const { provider } = await machine({ keyring: fakeKeyring() })
  const [one, two] = [provider(), provider()]

  await Promise.all([one.prepare(), two.prepare()])
  await Promise.all([one.set?.('A', '1'), two.set?.('B', '2')])

  expect((await provider().list?.())?.map(({ key }) => key).sort()).toEqual(['A', 'B'])
})

test('a keyring that keeps nothing is found out before anything is written', async () => {
  const { path, provider } = await machine({ keyring: fakeKeyring({ forgetful: true }) })

  await expect(provider().prepare()).rejects.toMatchObject({ code: 'keyring_unavailable' })
  await expect(readFile(path)).rejects.toThrow('ENOENT')
})

test('a file whose key is gone from the keyring says so, and stays', async () => {
  const keyring = fakeKeyring()
  const { path, provider } = await machine({ keyring })
  await provider().prepare()
  const before = await readFile(path)

  expect(await provider().forgetKey?.()).toBe(true)

  expect(await provider().forgetKey?.()).toBe(false)
  await expect(provider().find('A')).rejects.toMatchObject({ code: 'keyring_empty' })
  await expect(provider().prepare()).rejects.toMatchObject({ code: 'keyring_empty' })
  expect(await readFile(path)).toEqual(before)
  expect(keyring.items.size).toBe(0)
})

test('after that file was moved away a new one is made', async () => {
  const { path, provider } = await machine({ keyring: fakeKeyring() })
  await provider().prepare()
  await provider().forgetKey?.()
  await rename(path, `${path}.old`)

  await provider().prepare()

  expect(await provider().find('A')).toBeUndefined()
})

test('a locked keyring fails with its own message', async () => {
  const { provider } = await machine({ keyring: fakeKeyring({ problem: 'the collection is locked' }) })

  const attempt = provider({ keyFrom: 'keyring' }).prepare()

  await expect(attempt).rejects.toMatchObject({
    code: 'keyring_unavailable',
    message: expect.stringContaining('the collection is locked'),
  })
})

test('without a keyring a password is asked for, twice when it is new', async () => {
  const { provider } = await machine()
  await provider(typing('correct horse', 'correct horse')).prepare()

  await provider(typing('correct horse')).set?.('A', '1')

  expect(await provider(typing('correct horse')).find('A')).toBe('1')
})

test.each([
  ['that differ', ['correct horse', 'correct house'], 'secrets_passwords_differ'],
  ['that are too short', ['short', 'short'], 'usage'],
])('passwords %s set nothing up', async (_, answers, code) => {
  const { path, provider } = await machine()

  await expect(provider(typing(...answers)).prepare()).rejects.toMatchObject({ code })
  await expect(readFile(path)).rejects.toThrow('ENOENT')
})

test('without a terminal the failure says what to set', async () => {
  const { path, provider } = await machine()

  await expect(provider().prepare()).rejects.toMatchObject({
    code: 'secrets_password_needed',
    hint: expect.stringMatching(/--password-file.*KEELSON_SECRETS_PASSWORD/),
  })
  await expect(readFile(path)).rejects.toThrow('ENOENT')
})

test('a password comes from the variable, else from the file it names, else from the file in the settings', async () => {
  const { provider, write } = await machine()
  const right = await write('right', 'correct horse\n')
  const wrong = await write('wrong', 'wrong horse\n')
  await provider({ env: { KEELSON_SECRETS_PASSWORD: 'correct horse' }, passwordFile: wrong }).prepare()

  const all = { KEELSON_SECRETS_PASSWORD: 'correct horse', KEELSON_SECRETS_PASSWORD_FILE: wrong }
  await provider({ env: all }).set?.('A', '1')

  expect(
    await provider({ env: { KEELSON_SECRETS_PASSWORD_FILE: right }, passwordFile: wrong }).find('A'),
  ).toBe('1')
  expect(await provider({ passwordFile: right }).find('A')).toBe('1')
  await expect(provider({ passwordFile: wrong }).find('A')).rejects.toMatchObject({
    code: 'secrets_file_locked',
  })
})

test.each([
  ['missing', undefined, 'does not exist'],
  ['empty', '\n', 'is empty'],
])('a password file that is %s is named', async (_, text, words) => {
  const { provider, write } = await machine()
  const passwordFile = text === undefined ? '/nowhere/password' : await write('password', text)

  const attempt = provider({ passwordFile }).prepare()

  await expect(attempt).rejects.toMatchObject({
    code: 'secrets_password_file',
    message: expect.stringContaining(`${passwordFile} ${words}`),
  })
})

test('a password at hand wins over a keyring for a new file, and an old file stays with its key', async () => {
  const keyring = fakeKeyring()
  const { provider } = await machine({ keyring })
  const env = { KEELSON_SECRETS_PASSWORD: 'correct horse' }

  await provider({ env }).prepare()
  expect(keyring.items.size).toBe(0)

  await expect(provider().prepare()).rejects.toMatchObject({ code: 'secrets_password_needed' })
})
