import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environmentOffer } from '../../../plugins/secrets/providers/environment.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { memoryOffer, secretsWorld } from './secrets-world.ts'

test('before a provider is chosen everything says how to choose one', async () => {
  const { secrets } = await secretsWorld()
  const failure = { code: 'secrets_not_set_up', status: 404, hint: expect.stringContaining('secret setup') }

  await expect(secrets.get('A')).rejects.toMatchObject(failure)
  await expect(secrets.set('A', '1')).rejects.toMatchObject(failure)
  await expect(secrets.list()).rejects.toMatchObject(failure)
  await expect(secrets.provider()).rejects.toMatchObject(failure)
  await expect(secrets.resolve(['A,target=B'])).rejects.toMatchObject(failure)
})

test('a set-up that fails chooses nothing', async () => {
  const broken = {
    ...memoryOffer(),
    make: () => ({ find: async () => undefined, prepare: () => Promise.reject(new Error('no')) }),
  }
  const { secrets, settings } = await secretsWorld({ offers: [broken] })

  await expect(secrets.setUp('memory')).rejects.toThrow('no')

  expect(await settings.get('secrets')).toBeUndefined()
})

test('an unknown provider is refused with those there are', async () => {
  const { secrets } = await secretsWorld({ offers: [memoryOffer('one'), memoryOffer('two')] })
  await expect(secrets.setUp('three')).rejects.toMatchObject({
    code: 'secrets_provider_unknown',
    message: expect.stringContaining('one, two'),
  })
})

test('what is stored is read, listed by name and deleted once', async () => {
  const { secrets } = await secretsWorld()
  await secrets.setUp('memory')
  await secrets.set('b', '1')
  await secrets.set('A', '2')

  expect(await secrets.get('b')).toBe('1')
  expect(await secrets.list()).toEqual([{ key: 'A' }, { key: 'b' }])
  await secrets.delete('b')

  await expect(secrets.get('b')).rejects.toMatchObject({ code: 'secret_missing', status: 404 })
  await expect(secrets.delete('b')).rejects.toMatchObject({ code: 'secret_missing', status: 404 })
})

test.each(['', 'A,B', 'A\nB', 'A\0', 'x'.repeat(301)])('%j is not a name', async name => {
  const { secrets } = await secretsWorld()
  await secrets.setUp('memory')
  for (const attempt of [() => secrets.get(name), () => secrets.set(name, '1'), () => secrets.delete(name)])
    await expect(attempt()).rejects.toMatchObject({ code: 'secret_name_invalid' })
})

test('what a scope stores is read in that scope alone', async () => {
  const { secrets } = await secretsWorld()
  await secrets.setUp('memory')
  await secrets.scope('workloads').set('token', 'planted')
  await secrets.set('token', "user's")

  expect(await secrets.scope('workloads').get('token')).toBe('planted')
  expect(await secrets.get('token')).toBe("user's")
  expect(await secrets.scope('registry').find('token')).toBeUndefined()
  expect(await secrets.list()).toEqual([{ key: 'token' }])
  expect(await secrets.scope('workloads').list()).toEqual([{ key: 'token' }])
  expect(await secrets.listSystem()).toEqual([{ key: '__keelson_workloads_token', description: 'workloads' }])
})

test("reserved names are out of a user's reach, but for deleting them as such", async () => {
  const { secrets } = await secretsWorld()
  await secrets.setUp('memory')
  await secrets.scope('workloads').set('token', 'planted')
  const key = '__keelson_workloads_token'
  const failure = { code: 'secret_name_reserved', status: 400 }

  await expect(secrets.get(key)).rejects.toMatchObject(failure)
  await expect(secrets.set(key, '1')).rejects.toMatchObject(failure)
  await expect(secrets.delete(key)).rejects.toMatchObject(failure)
  await expect(secrets.resolve([`${key},target=A`])).rejects.toMatchObject(failure)
  await expect(secrets.deleteSystem('token')).rejects.toMatchObject({ code: 'secret_not_system' })
  await secrets.deleteSystem(key)
  expect(await secrets.listSystem()).toEqual([])
})

test('a method that a provider lacks is a capability it lacks', async () => {
  const { secrets } = await secretsWorld({ offers: [memoryOffer('memory', ['set', 'delete', 'list'])] })
  await secrets.setUp('memory')
  const failure = { code: 'secrets_unsupported', status: 405, message: expect.stringContaining('memory') }

  await expect(secrets.set('A', '1')).rejects.toMatchObject(failure)
  await expect(secrets.assertCanStore('A')).rejects.toMatchObject(failure)
  await expect(secrets.delete('A')).rejects.toMatchObject(failure)
  await expect(secrets.list()).rejects.toMatchObject(failure)
  expect(await secrets.provider()).toEqual({
    type: 'memory',
    capabilities: {
      can_read: true,
      can_write: false,
      can_delete: false,
      can_list: false,
      can_cleanup: false,
    },
  })
})

test('a variable stands in for a secret that is not there, unless that is switched off', async () => {
  const env = { KEELSON_SECRET_A: 'from the variable', KEELSON_SECRET_B: 'from the variable' }
  const { secrets } = await secretsWorld({ env })
  await secrets.setUp('memory')
  await secrets.set('B', 'stored')
  const off = await secretsWorld({ env: { ...env, KEELSON_DISABLE_ENV_FALLBACK: 'true' } })
  await off.secrets.setUp('memory')

  expect(await secrets.get('A')).toBe('from the variable')
  expect(await secrets.get('B')).toBe('stored')
  expect(await secrets.list()).toEqual([{ key: 'B' }])
  expect(await off.secrets.find('A')).toBeUndefined()
})

test('no variable stands in for what keelson keeps for itself', async () => {
  const env = { KEELSON_SECRET_token: '1', KEELSON_SECRET___keelson_auth_token: '2' }
  const { secrets } = await secretsWorld({ env })
  await secrets.setUp('memory')
  expect(await secrets.scope('auth').find('token')).toBeUndefined()
})

test('the environment provider needs no set-up when the variable chooses it', async () => {
  const env = { KEELSON_SECRETS_PROVIDER: 'environment', KEELSON_SECRET_A: '1', KEELSON_SECRET_B: '' }
  const { secrets } = await secretsWorld({ env, offers: [environmentOffer, memoryOffer()] })

  expect(await secrets.resolve(['A,target=X'])).toEqual({ X: '1' })
  expect(await secrets.find('B')).toBeUndefined()
  await expect(secrets.list()).rejects.toMatchObject({ code: 'secrets_unsupported' })
})

test.each([
  ['memory', 'secrets_override_refused'],
  ['nonsense', 'secrets_provider_unknown'],
])('the variable cannot choose "%s" before a set-up', async (type, code) => {
  const { secrets } = await secretsWorld({ env: { KEELSON_SECRETS_PROVIDER: type } })
  await expect(secrets.get('A')).rejects.toMatchObject({ code })
})

test('the variable wins over the settings', async () => {
  const one = memoryOffer('one')
  const two = memoryOffer('two')
  const { secrets } = await secretsWorld({ offers: [one, two], env: { KEELSON_SECRETS_PROVIDER: 'two' } })
  await secrets.setUp('one')

  await secrets.set('A', '1')

  expect([one.values.size, two.values.size]).toEqual([0, 1])
  expect(await secrets.choices()).toEqual([
    { type: 'one', description: 'in memory', current: false },
    { type: 'two', description: 'in memory', current: true },
  ])
})

test('another provider keeps its own secrets, and going back finds the old ones', async () => {
  const { secrets } = await secretsWorld({ offers: [memoryOffer('one'), memoryOffer('two')] })
  await secrets.setUp('one')
  await secrets.set('A', '1')

  await secrets.setUp('two')
  expect(await secrets.find('A')).toBeUndefined()

  await secrets.setUp('one')
  expect(await secrets.get('A')).toBe('1')
})

test('a provider is made once, and anew when the settings name another password file', async () => {
  const offer = memoryOffer()
  const { secrets, settings } = await secretsWorld({ offers: [offer] })
  await secrets.setUp('memory')
  const before = offer.made
  await secrets.find('A')
  await secrets.find('B')
  expect(offer.made).toBe(before + 1)

  await settings.change(current => ({ secrets: { ...current('secrets'), password_file: '/elsewhere' } }))
  await secrets.find('A')

  expect(offer.made).toBe(before + 2)
})

test('references become variables, and all that is missing is named at once', async () => {
  const { secrets } = await secretsWorld()
  await secrets.setUp('memory')
  await secrets.set('A', '1')
  await secrets.set('with space', '2')

  expect(await secrets.resolve(['A,target=X', 'with space,target=Y', 'A,target=Z'])).toEqual({
    X: '1',
    Y: '2',
    Z: '1',
  })
  await expect(
    secrets.resolve(['B,target=X', 'A,target=Y', 'C,target=Z', 'C,target=Q']),
  ).rejects.toMatchObject({
    code: 'secrets_missing',
    message: 'These secrets are missing: "B", "C".',
  })
})

test.each([
  'A',
  'A,',
  'A,target=',
  ',target=A',
  'A,target=B C',
  'A,target=1B',
  'A,B,target=C',
  'A,target=B=C',
])('%j is not a reference', async reference => {
  const { secrets } = await secretsWorld()
  await expect(secrets.resolve([reference])).rejects.toMatchObject({
    code: 'secret_reference_invalid',
    exit: 2,
  })
})

test('a value written where a reference belongs is not repeated', async () => {
  const { secrets } = await secretsWorld()
  const attempt = secrets.resolve(['GITHUB=planted'])
  await expect(attempt).rejects.toMatchObject({ message: expect.not.stringContaining('planted') })
})

test('two secrets for one variable are refused', async () => {
  const { secrets } = await secretsWorld()
  await expect(secrets.resolve(['A,target=X', 'B,target=X'])).rejects.toMatchObject({
    code: 'secret_target_twice',
  })
})

test('workloads that refer to a secret are known by name', async () => {
  const { secrets } = await secretsWorld({
    runConfigs: [
      { name: 'one', secrets: ['A,target=X', 'B,target=Y'] },
      { name: 'two', secrets: ['AB,target=A'] },
      { name: 'three' },
      { name: 'four', secrets: ['nonsense', 'A,target=Q'] },
    ],
  })
  expect(await secrets.usedBy('A')).toEqual(['one', 'four'])
})

/** A file as ToolHive writes it: nonce, AES-256-GCM, tag; SHA-256 of the password as key. */
async function toolhiveFile(secrets: Record<string, string>, password: string): Promise<string> {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', createHash('sha256').update(password).digest(), nonce)
  const path = join(await temporaryFolder(), 'secrets_encrypted')
  const sealed = [nonce, cipher.update(JSON.stringify({ secrets })), cipher.final(), cipher.getAuthTag()]
  await writeFile(path, Buffer.concat(sealed))
  return path
}

test("a file of ToolHive's is taken over, its own secrets under our names, and stays", async () => {
  const { secrets } = await secretsWorld()
  await secrets.setUp('memory')
  await secrets.set('same', 'v')
  const path = await toolhiveFile({ A: '1', same: 'v', __thv_workloads_token: '2' }, 'their password')
  const before = await readFile(path)

  expect(await secrets.import(path, async () => 'their password', { replace: false })).toEqual([
    'A',
    '__keelson_workloads_token',
    'same',
  ])

  expect(await secrets.get('A')).toBe('1')
  expect(await secrets.scope('workloads').get('token')).toBe('2')
  expect(await readFile(path)).toEqual(before)
})

test('an import that would change a value stores nothing, unless --replace is given', async () => {
  const offer = memoryOffer()
  const { secrets } = await secretsWorld({ offers: [offer] })
  await secrets.setUp('memory')
  await secrets.set('B', 'mine')
  const path = await toolhiveFile({ A: '1', B: 'theirs' }, 'pw')

  await expect(secrets.import(path, async () => 'pw', { replace: false })).rejects.toMatchObject({
    code: 'secrets_import_conflict',
    message: expect.stringContaining('"B"'),
  })
  expect(Object.fromEntries(offer.values)).toEqual({ B: 'mine' })

  await secrets.import(path, async () => 'pw', { replace: true })
  expect(await secrets.get('B')).toBe('theirs')
})

test.each([
  ['a wrong password', 'secrets_import_refused', () => toolhiveFile({ A: '1' }, 'pw')],
  ['no such file', 'file_missing', async () => '/nowhere/secrets'],
  ['a file that is none', 'secrets_import_refused', async () => new URL(import.meta.url).pathname],
])('an import fails with %s and stores nothing', async (_, code, make) => {
  const offer = memoryOffer()
  const { secrets } = await secretsWorld({ offers: [offer] })
  await secrets.setUp('memory')
  const path = await make()

  await expect(secrets.import(path, async () => 'wrong', { replace: false })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(path),
  })
  expect(offer.values.size).toBe(0)
})
