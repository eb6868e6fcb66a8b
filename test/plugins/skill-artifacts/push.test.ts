import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contentDigest } from '../../../plugins/skill-artifacts/format/content-digest.ts'
import { extractSkill } from '../../../plugins/skill-artifacts/format/extract-skill.ts'
import { type Builds, createBuilds } from '../../../plugins/skill-artifacts/service.ts'
import type { Signing } from '../../../plugins/skill-artifacts/sign/signing.ts'
import { type DockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { ociClient } from '../oci/oci-client.ts'

let registry: DockerRegistry
let repositories = 0
const oci = ociClient()
const source = new URL('../../../fixtures/skills/csv-report', import.meta.url).pathname

beforeAll(async () => {
  registry = await startDockerRegistry()
})
afterAll(() => registry.stop())

/** A build for a repository of its own. */
async function built(env: Record<string, string> = {}) {
  const reference = `${registry.host}/team${++repositories}/csv-report:1.10`
  const folder = await temporaryFolder()
  const builds: Builds = createBuilds({ folder, oci: async () => oci, env })
  const { digest } = await builds.build(source, reference)
  return {
    builds,
    reference,
    digest,
    folder,
    signatureTag: `${reference.split(':1.10')[0]}:${digest.replace(':', '-')}.sig`,
  }
}

const pem = (key: { export(options: object): string | Buffer }) =>
  key.export({ format: 'pem', type: 'pkcs8' })

async function keyFile(text: string | Buffer): Promise<string> {
  const path = join(await temporaryFolder(), 'cosign.key')
  await writeFile(path, text)
  return path
}

test('what was built comes out of the registry byte by byte', async () => {
  const { builds, reference, digest } = await built()
  const steps: string[] = []
  await builds.push(reference, { noSign: true }, { progress: what => steps.push(what) })

  const index = await oci.manifest(reference)
  const { content } = await oci.imageManifest(reference, { os: 'linux', architecture: 'arm64' })
  const [layer] = content.layers
  if (!layer) throw new Error('a manifest has a layer')
  const archive = join(await temporaryFolder(), 'skill.tar.gz')
  const folder = join(await temporaryFolder(), 'csv-report')
  await oci.blobToFile(reference, layer, archive)
  await extractSkill(archive, folder)

  expect(index.descriptor).toMatchObject({ digest, artifactType: 'dev.toolhive.skills.v1' })
  expect(await contentDigest(folder)).toBe(await contentDigest(source))
  expect(steps).toEqual(['Sending the files', 'Sending the description', 'Sending the description'])
})

test('the mark of a local build stays here', async () => {
  const { builds, reference } = await built()
  await builds.push(reference, { noSign: true })

  expect((await oci.manifest(reference)).bytes.toString()).not.toContain('local-build')
})

test('pushing again changes nothing', async () => {
  const { builds, reference, digest } = await built()
  await builds.push(reference, { noSign: true })

  expect(await builds.push(reference, { noSign: true })).toEqual({ digest })
})

test('two machines push the same digest', async () => {
  const [one, two] = [await built(), await built()]
  await one.builds.push(one.reference, { noSign: true })
  await two.builds.push(two.reference, { noSign: true })

  expect((await oci.manifest(one.reference)).descriptor.digest).toBe(
    (await oci.manifest(two.reference)).descriptor.digest,
  )
})

describe('signed with a key', () => {
  test.each([
    ['P-256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['ed25519', () => generateKeyPairSync('ed25519')],
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ])('of the kind %s, it has a signature of this digest under the tag of cosign', async (kind, make) => {
    const { builds, reference, digest, signatureTag } = await built()
    const { privateKey, publicKey } = make()
    await builds.push(reference, { key: await keyFile(pem(privateKey)) })

    const found = await oci.manifest(signatureTag)
    if (found.kind !== 'manifest') throw new Error('a signature is a manifest')
    const [layer] = found.content.layers
    if (!layer) throw new Error('it has a layer')
    const payload = await oci.blob(signatureTag, layer)
    const signature = Buffer.from(layer.annotations?.['dev.cosignproject.cosign/signature'] ?? '', 'base64')
    expect(layer.mediaType).toBe('application/vnd.dev.cosign.simplesigning.v1+json')
    expect(verify(kind === 'ed25519' ? null : 'sha256', payload, publicKey, signature)).toBe(true)
    expect(JSON.parse(payload.toString())).toEqual({
      critical: {
        identity: { 'docker-reference': reference.split(':1.10')[0] },
        image: { 'docker-manifest-digest': digest },
        type: 'cosign container image signature',
      },
      optional: null,
    })
  })

  test('that cosign made and encrypted', async () => {
    const fixtures = new URL('../../../fixtures/cosign/', import.meta.url).pathname
    const { builds, reference, signatureTag } = await built({ COSIGN_PASSWORD: 'correct horse' })
    await builds.push(reference, { key: join(fixtures, 'cosign.key') })

    const found = await oci.manifest(signatureTag)
    const [layer] = found.kind === 'manifest' ? found.content.layers : []
    if (!layer) throw new Error('it has a layer')
    const key = createPublicKey(await readFile(join(fixtures, 'cosign.pub')))
    const signature = Buffer.from(layer.annotations?.['dev.cosignproject.cosign/signature'] ?? '', 'base64')
    expect(verify('sha256', await oci.blob(signatureTag, layer), key, signature)).toBe(true)
  })

  test('a second time, both signatures are there', async () => {
    const { builds, reference, signatureTag } = await built()
    for (let i = 0; i < 2; i++) {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      await builds.push(reference, { key: await keyFile(pem(privateKey)) })
    }

    const found = await oci.manifest(signatureTag)
    const layers = found.kind === 'manifest' ? found.content.layers : []
    expect(new Set(layers.map(layer => JSON.stringify(layer.annotations))).size).toBe(2)
  })
})

describe('is not pushed, and the registry stays empty:', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const fixtures = new URL('../../../fixtures/cosign/', import.meta.url).pathname
  const encrypted = (change: (text: string) => string) => async () => {
    const text = await readFile(join(fixtures, 'cosign.key'), 'utf8')
    const body = text.replace(/-----.*-----/g, '').replace(/\s/g, '')
    const json = change(Buffer.from(body, 'base64').toString())
    const label = 'ENCRYPTED SIGSTORE PRIVATE KEY'
    return {
      key: await keyFile(
        `-----BEGIN ${label}-----\n${Buffer.from(json).toString('base64')}\n-----END ${label}-----\n`,
      ),
    }
  }

  test.each<[string, () => Signing | Promise<Signing>, string, RegExp]>([
    ['it is not said how to sign', () => ({}), 'skill_signing_choice', /not said how/],
    ['two ways at once', () => ({ key: 'k', noSign: true }), 'skill_signing_choice', /--key and --no-sign/],
    [
      'three ways at once',
      () => ({ key: 'k', identityToken: 't', noSign: true }),
      'skill_signing_choice',
      /--identity-token/,
    ],
    [
      'a key that is not there',
      () => ({ key: '/nonexistent/key' }),
      'file_missing',
      /--key \/nonexistent\/key does not exist/,
    ],
    [
      'a key that is not PEM',
      async () => ({ key: await keyFile('secret-material') }),
      'skill_key_invalid',
      /not a PEM/,
    ],
    [
      'a public key',
      async () => ({ key: await keyFile(publicKey.export({ format: 'pem', type: 'spki' })) }),
      'skill_key_invalid',
      /is public/,
    ],
    [
      'a PEM of nonsense',
      async () => ({
        key: await keyFile('-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n'),
      }),
      'skill_key_invalid',
      /not a private key/,
    ],
    [
      'a key that cannot sign',
      async () => ({ key: await keyFile(pem(generateKeyPairSync('x25519').privateKey)) }),
      'skill_key_invalid',
      /cannot sign/,
    ],
    [
      'a wrong password',
      () => ({ key: join(fixtures, 'cosign.key') }),
      'skill_key_invalid',
      /password in COSIGN_PASSWORD is wrong/,
    ],
    ['an encrypted key that is no JSON', encrypted(() => 'x'), 'skill_key_invalid', /not what cosign writes/],
    [
      'an encryption nobody knows',
      encrypted(json => json.replace('scrypt', 'argon2')),
      'skill_key_invalid',
      /not known here/,
    ],
    [
      'an encryption that takes all memory',
      encrypted(json => json.replace(/"N":\d+/, '"N":1073741824')),
      'skill_key_invalid',
      /not known here/,
    ],
    [
      'an encryption whose numbers do not fit',
      encrypted(json => json.replace(/"N":\d+/, '"N":1000')),
      'skill_key_invalid',
      /not known here/,
    ],
    [
      'a token that is none',
      () => ({ identityToken: 'secret-material' }),
      'skill_token_invalid',
      /not an identity token/,
    ],
  ])('%s', async (_, signing, code, message) => {
    const { builds, reference } = await built({ COSIGN_PASSWORD: 'wrong' })
    const error = await builds.push(reference, await signing()).then(
      () => expect.fail('it was pushed'),
      error => error,
    )

    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
    expect([400, 404]).toContain(error.status)
    expect(`${error.message} ${error.stack} ${error.cause}`).not.toMatch(/secret-material|c2VjcmV0/)
    expect(await oci.findManifest(reference)).toBeUndefined()
  })

  test('an encrypted key without a password', async () => {
    const { builds, reference } = await built()

    await expect(builds.push(reference, { key: join(fixtures, 'cosign.key') })).rejects.toMatchObject({
      code: 'skill_key_invalid',
      message: expect.stringContaining('COSIGN_PASSWORD is not set'),
    })
  })

  test('a reference that was not built', async () => {
    const { builds, reference } = await built()

    await expect(builds.push(`${reference}1`, { noSign: true })).rejects.toMatchObject({
      code: 'skill_build_missing',
      status: 404,
      hint: `Did you mean ${reference}?`,
    })
  })

  test('a build whose tag names no registry', async () => {
    const { builds } = await built()
    await builds.build(source)

    await expect(builds.push('csv-report', { noSign: true })).rejects.toMatchObject({
      code: 'skill_push_nowhere',
      status: 400,
      hint: expect.stringContaining('--tag REGISTRY/REPOSITORY:TAG'),
    })
  })

  test('a build that is damaged', async () => {
    const { builds, reference, folder } = await built()
    const blobs = join(folder, 'blobs/sha256')
    for (const blob of readdirSync(blobs)) await writeFile(join(blobs, blob), 'other')

    await expect(builds.push(reference, { noSign: true })).rejects.toMatchObject({
      code: 'skill_store_broken',
    })
    expect(await oci.findManifest(reference)).toBeUndefined()
  })

  test('a build whose files are gone', async () => {
    const { builds, reference, folder } = await built()
    for (const blob of readdirSync(join(folder, 'blobs/sha256'))) {
      const bytes = await readFile(join(folder, 'blobs/sha256', blob))
      if (bytes[0] === 0x1f) await rm(join(folder, 'blobs/sha256', blob))
    }

    await expect(builds.push(reference, { noSign: true })).rejects.toMatchObject({
      code: 'skill_store_broken',
    })
    expect(await oci.findManifest(reference)).toBeUndefined()
  })
})

test('a registry that is not there is a failure that names it', async () => {
  const folder = await temporaryFolder()
  const builds = createBuilds({ folder, oci: async () => oci, env: {} })
  await builds.build(source, '127.0.0.1:1/csv-report:1')

  await expect(builds.push('127.0.0.1:1/csv-report:1', { noSign: true })).rejects.toMatchObject({
    code: 'oci_unreachable',
    message: expect.stringContaining('127.0.0.1:1'),
  })
})
