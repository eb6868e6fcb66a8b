import { generateKeyPairSync } from 'node:crypto'
import { stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openKeyFiles } from '../../../plugins/auth-server/keys/key-files.ts'
import { openKeys } from '../../../plugins/auth-server/keys/open-keys.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const pem = (curve = 'P-256') =>
  generateKeyPairSync('ec', { namedCurve: curve })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
const jwk = () => JSON.stringify(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
const quiet = { warn() {} }

test('keys of PEM and JWK sign, and no private part is published', async () => {
  const folder = await temporaryFolder()
  const [signing, other] = [join(folder, 'one.pem'), join(folder, 'two.json')]
  await Promise.all([writeFile(signing, pem()), writeFile(other, jwk())])
  const keys = await (await openKeyFiles({ signing, others: [other] }, { log: quiet }))()
  expect(keys.algorithm).toBe('ES256')
  expect(keys.published.keys.map(({ alg }) => alg)).toEqual(['ES256', 'EdDSA'])
  expect(keys.published.keys.filter(key => 'd' in key)).toEqual([])
})

test('a new key signs without a restart; one that cannot be read changes nothing', async () => {
  const signing = join(await temporaryFolder(), 'key.pem')
  const clock = { ms: 0 }
  await writeFile(signing, pem())
  const keys = await openKeyFiles({ signing, others: [] }, { log: quiet, now: () => clock.ms })
  const first = (await keys()).keyId
  await writeFile(signing, 'no key')
  clock.ms += 5000
  expect((await keys()).keyId).toBe(first)
  await writeFile(signing, pem('P-384'))
  await utimes(signing, 1, 1)
  clock.ms += 5000
  expect(await keys()).toMatchObject({ algorithm: 'ES384' })
})

test.each([
  [
    'a short RSA key',
    () =>
      generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  ],
  ['a public key', () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' })],
  ['a shared secret', () => JSON.stringify({ kty: 'oct', k: 'secret' })],
  ['no key', () => 'secret'],
])('%s does not sign, and is not quoted', async (_, make) => {
  const signing = join(await temporaryFolder(), 'key')
  await writeFile(signing, make())
  const error = await openKeyFiles({ signing, others: [] }, { log: quiet }).catch(String)
  expect(error).toContain('cannot be used')
  expect(error).not.toContain('secret"')
})

test('an HMAC secret has 32 bytes at least', async () => {
  const file = join(await temporaryFolder(), 'secret')
  await writeFile(file, `${'s'.repeat(31)}\n`)
  const config = { upstreams: [], hmac_secret_files: [file] }
  await expect(openKeys(config, { folder: '', log: quiet })).rejects.toThrow('31 bytes')
})

test('what an earlier HMAC secret made is still accepted', async () => {
  const folder = await temporaryFolder()
  const [old, next] = [join(folder, 'old'), join(folder, 'next')]
  await Promise.all([writeFile(old, 'o'.repeat(32)), writeFile(next, 'n'.repeat(32))])
  const open = async (...files: string[]) =>
    (await openKeys({ upstreams: [], hmac_secret_files: files }, { folder, log: quiet })).secrets
  const made = (await open(old)).sign('refresh', 'a')
  const rotated = await open(next, old)
  expect(rotated.isSigned(made, 'refresh', 'a')).toBe(true)
  expect(rotated.sign('refresh', 'a')).not.toBe(made)
  expect((await open(next)).isSigned(made, 'refresh', 'a')).toBe(false)
})

test('beside a file storage keys are kept, for the user alone; with Redis they must be named', async () => {
  const folder = await temporaryFolder()
  const open = () => openKeys({ upstreams: [], storage: { type: 'sqlite' } }, { folder, log: quiet })
  const [one, two] = [await open(), await open()]
  expect((await one.signing()).keyId).toBe((await two.signing()).keyId)
  expect(one.secrets.sealing).toEqual(two.secrets.sealing)
  for (const name of ['signing-key.pem', 'hmac-secret']) {
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  }
  await expect(
    openKeys({ upstreams: [], storage: { type: 'redis' } }, { folder, log: quiet }),
  ).rejects.toThrow('same keys')
})
