import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Provenance, VerificationMode } from '../../../plugins/image-verification/index.ts'
import {
  createImageVerification,
  type ImageVerification,
} from '../../../plugins/image-verification/service.ts'
import { createTrustRoots } from '../../../plugins/image-verification/trust-roots.ts'
import { type DockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts'
import { GITHUB_ISSUER, type SignerFacts, type TestSigstore, testSigstore } from '../../support/sigstore.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { ociClient } from '../oci/oci-client.ts'
import {
  attachBundle,
  attachCosign,
  attachCosignAttestation,
  type PushedImage,
  pushImage,
} from './signed-image.ts'

const MODES = ['enabled', 'warn', 'disabled'] as const

const maker: SignerFacts = {
  identity: 'https://github.com/acme/tool/.github/workflows/release.yml@refs/tags/v1.0.0',
  issuer: GITHUB_ISSUER,
  repository: 'https://github.com/acme/tool',
  ref: 'refs/tags/v1.0.0',
  runner: 'github-hosted',
}
const expected: Provenance = {
  sigstore_url: 'tuf-repo-cdn.sigstore.dev',
  repository_uri: 'https://github.com/acme/tool',
  signer_identity: '/.github/workflows/release.yml',
  runner_environment: 'github-hosted',
  cert_issuer: GITHUB_ISSUER,
}

let registry: DockerRegistry
let sigstore: TestSigstore
const oci = ociClient()

beforeAll(async () => {
  ;[registry, sigstore] = await Promise.all([startDockerRegistry(), testSigstore()])
})
afterAll(() => registry.stop())

const newImage = (tag = '1.0.0'): Promise<PushedImage> => {
  const name = randomBytes(4).toString('hex')
  return pushImage(oci, `${registry.host}/acme/${name}:${tag}`, `layer of ${name}`)
}

async function verification(trustRoot: unknown = sigstore.trustRoot): Promise<ImageVerification> {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'root.json'), JSON.stringify(trustRoot))
  const trustRoots = createTrustRoots({
    cacheFolder: folder,
    file: join(folder, 'root.json'),
    debug: () => undefined,
    warn: () => undefined,
  })
  return createImageVerification({ oci, trustRoots })
}

/** In every mode: refused for this reason, run with a warning that says it, not looked at. */
async function expectUnverified(reference: string, reason: RegExp, provenance: Provenance = expected) {
  const service = await verification()
  const check = (mode: VerificationMode) => service.check(reference, provenance, mode)
  await expect(check('enabled')).rejects.toMatchObject({
    code: 'image_unverified',
    message: expect.stringMatching(reason),
  })
  expect(await check('warn')).toEqual({
    reference,
    verified: false,
    warnings: [expect.stringMatching(reason)],
  })
  expect(await check('disabled')).toEqual({ reference, verified: false, warnings: [] })
}

async function expectVerified(image: PushedImage, provenance: Provenance = expected) {
  const service = await verification()
  const pinned = image.reference.replace(/:[^:]*$/, `@${image.digest}`)
  for (const mode of MODES.slice(0, 2)) {
    const verdict = await service.check(image.reference, provenance, mode)
    expect(verdict).toMatchObject({ reference: pinned, verified: true, warnings: [] })
  }
}

describe('a signature that fits is accepted, and the image pinned,', () => {
  test('as an attestation among the referrers', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker))
    await expectVerified(image)
  })

  test('as a plain signature of the manifest among the referrers', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.sign(image.manifest, maker))
    await expectVerified(image)
  })

  test("under cosign's tag", async () => {
    const image = await newImage()
    await attachCosign(oci, image, [await sigstore.cosignLayer(image.digest, maker)])
    await expectVerified(image)
  })

  test('beside invalid ones and signatures of others', async () => {
    const image = await newImage()
    await attachBundle(oci, image, 'no bundle at all')
    await attachBundle(oci, image, { mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json' })
    await attachBundle(
      oci,
      image,
      await sigstore.attest(image.digest, { ...maker, identity: 'https://evil' }),
    )
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker))
    await expectVerified(image)
  })

  test('when the whole identity is named instead of the path of a workflow', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker))
    await expectVerified(image, { signer_identity: maker.identity, cert_issuer: GITHUB_ISSUER })
    const signer_identity = maker.identity.replace(/@.*/, '')
    await expectVerified(image, { signer_identity, cert_issuer: GITHUB_ISSUER })
  })
})

test('the digest that was verified is what runs, though the tag moves meanwhile', async () => {
  const image = await newImage('latest')
  await attachBundle(oci, image, await sigstore.attest(image.digest, maker))
  const verdict = await (await verification()).check(image.reference, expected, 'enabled')

  const moved = await pushImage(oci, image.reference, 'something else')

  expect(moved.digest).not.toBe(image.digest)
  expect((await oci.manifest(verdict.reference)).descriptor.digest).toBe(image.digest)
  expect(verdict.signer).toEqual({
    identity: maker.identity,
    issuer: GITHUB_ISSUER,
    repositoryUri: maker.repository,
    repositoryRef: maker.ref,
    runnerEnvironment: maker.runner,
  })
})

describe('an image is not verified', () => {
  test('without a signature', async () => {
    const image = await newImage()
    await expectUnverified(image.reference, /it has no signature/)
  })

  test('when its tag has moved to another image', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker))
    await pushImage(oci, image.reference, 'tampered')
    await expectUnverified(image.reference, /it has no signature/)
  })

  test('when the signature of another image was attached to it', async () => {
    const image = await newImage()
    const tampered = await pushImage(oci, image.reference, 'tampered')
    await attachBundle(oci, tampered, await sigstore.attest(image.digest, maker))
    await attachCosign(oci, tampered, [await sigstore.cosignLayer(image.digest, maker)])
    await expectUnverified(image.reference, /a signature is for another image/)
  })

  test('when the plain signature is of another manifest', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.sign(Buffer.from('another manifest'), maker))
    await expectUnverified(image.reference, /does not hold/)
  })

  test('when the statement was changed after signing', async () => {
    const image = await newImage()
    const bundle = await sigstore.attest('sha256:'.padEnd(71, 'a'), maker)
    const statement = JSON.parse(Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString())
    statement.subject[0].digest.sha256 = image.digest.slice(7)
    bundle.dsseEnvelope.payload = Buffer.from(JSON.stringify(statement)).toString('base64')
    await attachBundle(oci, image, bundle)
    await expectUnverified(image.reference, /does not hold/)
  })

  test.each([
    [
      'somebody else signed',
      { identity: 'https://github.com/acme/tool/.github/workflows/pr.yml@refs/heads/x' },
      /signed by ".*pr\.yml@refs\/heads\/x", not "\/\.github\/workflows\/release\.yml"/,
    ],
    [
      'another workflow hides behind an @',
      { identity: 'https://github.com/acme/tool/.github/workflows/release.yml@evil.yml@refs/heads/x' },
      /signed by/,
    ],
    ['the login was elsewhere', { issuer: 'https://accounts.example.com' }, /for the login at ".*example/],
    [
      'the repository is another',
      { repository: 'https://github.com/evil/tool' },
      /repository ".*evil\/tool", not ".*acme\/tool"/,
    ],
    [
      'the repository only begins alike',
      { repository: 'https://github.com/acme/tool-evil' },
      /repository ".*tool-evil", not/,
    ],
    ['the runner is another', { runner: 'self-hosted' }, /runner of the kind "self-hosted"/],
  ] satisfies [string, Partial<SignerFacts>, RegExp][])('when %s', async (_, difference, reason) => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, { ...maker, ...difference }))
    await expectUnverified(image.reference, reason)
  })

  test('when the ref is another', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker))
    const wanted = { ...expected, repository_ref: 'refs/tags/v1' }
    await expectUnverified(image.reference, /ref "refs\/tags\/v1\.0\.0", not "refs\/tags\/v1"/, wanted)
  })

  test('when dots of the expected identity would match as a pattern', async () => {
    const image = await newImage()
    const identity = 'https://githubXcom/acme/tool'
    await attachBundle(oci, image, await sigstore.attest(image.digest, { ...maker, identity }))
    for (const signer_identity of ['https://github.com/acme/tool', '.*', ' ']) {
      const wanted = { signer_identity, cert_issuer: GITHUB_ISSUER }
      await expectUnverified(image.reference, /signed by/, wanted)
    }
    for (const cert_issuer of ['.*', 'https://token.actions.githubusercontentXcom', ' ']) {
      await expectUnverified(image.reference, /for the login at/, { signer_identity: identity, cert_issuer })
    }
  })

  test('when only the path of a workflow is expected: it would fit any repository', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker))
    await expectUnverified(image.reference, /signed by/, {
      signer_identity: '/.github/workflows/release.yml',
      cert_issuer: GITHUB_ISSUER,
    })
  })

  test('when a signer is named without the login that knows it, whichever login that was', async () => {
    const image = await newImage()
    const identity = 'ada@example.com'
    const signer = { identity, issuer: 'https://login.mallory.example' }
    await attachBundle(oci, image, await sigstore.attest(image.digest, signer))
    for (const more of [{}, { cert_issuer: '' }, { repository_uri: 'https://github.com/acme/tool' }]) {
      await expectUnverified(image.reference, /cert_issuer/, { signer_identity: identity, ...more })
    }
  })

  test('when a repository alone is named, and the login is not that of its host', async () => {
    const image = await newImage()
    const issuer = 'https://gitlab.mallory.example'
    await attachBundle(oci, image, await sigstore.attest(image.digest, { ...maker, issuer }))
    await expectUnverified(image.reference, /for the login at ".*mallory/, {
      repository_uri: 'https://github.com/acme/tool',
    })
    await expectUnverified(image.reference, /cert_issuer/, { repository_uri: 'https://git.example.com/a/b' })
  })

  test('when the registry entry names no signer', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker))
    await expectUnverified(image.reference, /nothing is known of who must have signed/, {
      sigstore_url: 'tuf-repo-cdn.sigstore.dev',
      cert_issuer: GITHUB_ISSUER,
    })
  })

  const evidence = { timestamp: false, log: true }
  test.each([
    ['the log entry', { log: false }, /expected 1 tlog entries, got 0/],
    ['any proof of the time', evidence, /expected 1 timestamps, got 0/],
    ['the receipt of the certificate log', { receipt: false }, /expected 1 SCTs, got 0/],
  ])('without %s', async (_, missing, reason) => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker, {}, missing))
    await expectUnverified(image.reference, reason)
  })

  test.each([
    ['and nothing proves when it was used', { timestamp: false }, /does not hold/],
    ['and was used afterwards', {}, /does not hold \(.*certificate/],
  ])('when its certificate has expired %s', async (_, without, reason) => {
    const image = await newImage()
    const certifiedAt = new Date(Date.now() - 3_600_000)
    const bundle = await sigstore.attest(image.digest, maker, {}, { certifiedAt, ...without })
    await attachBundle(oci, image, bundle)
    await expectUnverified(image.reference, reason)
  })

  test('when another Sigstore made everything about it', async () => {
    const image = await newImage()
    const elsewhere = await testSigstore()
    await attachBundle(oci, image, await elsewhere.attest(image.digest, maker))
    await attachCosign(oci, image, [await elsewhere.cosignLayer(image.digest, maker)])
    await expectUnverified(image.reference, /does not hold/)
  })

  test.each([
    ['certificate', 'dev.sigstore.cosign/certificate', /made with a plain key/],
    ['signature', 'dev.cosignproject.cosign/signature', /cannot be read/],
    ['log entry', 'dev.sigstore.cosign/bundle', /expected 1 timestamps, got 0/],
  ])("when cosign's %s is missing", async (_, annotation, reason) => {
    const image = await newImage()
    const layer = await sigstore.cosignLayer(image.digest, maker)
    delete layer.annotations[annotation]
    await attachCosign(oci, image, [layer])
    await expectUnverified(image.reference, reason)
  })

  test.each(['dev.sigstore.cosign/certificate', 'dev.sigstore.cosign/bundle'])(
    "when cosign's %s is garbage",
    async annotation => {
      const image = await newImage()
      const layer = await sigstore.cosignLayer(image.digest, maker)
      layer.annotations[annotation] = '{"Payload":7,"x":"-----BEGIN'
      await attachCosign(oci, image, [layer])
      await expectUnverified(image.reference, /a signature is of no use: it cannot be read/)
    },
  )

  test('when the registry does not respond', async () => {
    const reference = `127.0.0.1:1/acme/tool:1`
    await expectUnverified(reference, /could not be reached/)
  })

  test('when the trust root of its Sigstore is not there', async () => {
    const image = await newImage()
    const trustRoots = createTrustRoots({
      cacheFolder: await temporaryFolder(),
      debug: () => undefined,
      warn: () => undefined,
    })
    const service = createImageVerification({ oci, trustRoots })
    const trial = service.check(
      image.reference,
      { ...expected, sigstore_url: 'tuf-repo.github.com' },
      'enabled',
    )
    await expect(trial).rejects.toMatchObject({ message: expect.stringContaining('tuf-repo.github.com') })
  })

  test('by the shipped trust root when a private Sigstore signed', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker))
    const trustRoots = createTrustRoots({
      cacheFolder: await temporaryFolder(),
      debug: () => undefined,
      warn: () => undefined,
    })
    const service = createImageVerification({ oci, trustRoots })
    await expect(service.check(image.reference, expected, 'enabled')).rejects.toMatchObject({
      code: 'image_unverified',
    })
  })
})

describe('an attestation', () => {
  const statement = {
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: { builder: { id: 'x' }, n: [1] },
  }

  test('is accepted when type and content are what is expected', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker, statement))
    const { predicateType: predicate_type, predicate } = statement
    await expectVerified(image, { ...expected, attestation: { predicate_type } })
    await expectVerified(image, { ...expected, attestation: { predicate_type, predicate } })
  })

  test.each([
    ['the type', { predicate_type: 'https://spdx.dev/Document' }, /attests "https:\/\/slsa/],
    ['the content', { predicate: { builder: { id: 'y' }, n: [1] } }, /what it attests is not/],
  ])('is refused when %s is another', async (_, attestation, reason) => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.attest(image.digest, maker, statement))
    await expectUnverified(image.reference, reason, { ...expected, attestation })
  })

  test("is found under cosign's tag, and must be of this image there, too", async () => {
    const image = await newImage()
    const other = await newImage()
    const attestation = { predicate_type: statement.predicateType, predicate: statement.predicate }
    const bundle = await sigstore.attest(image.digest, maker, statement)
    await attachCosignAttestation(oci, image, bundle)
    await attachCosignAttestation(oci, other, bundle)

    await expectVerified(image, { ...expected, attestation })
    await expectUnverified(other.reference, /for another image/, { ...expected, attestation })
  })

  test('is not replaced by a plain signature', async () => {
    const image = await newImage()
    await attachBundle(oci, image, await sigstore.sign(image.manifest, maker))
    const attestation = { predicate_type: 'https://slsa.dev/provenance/v1' }
    await expectUnverified(image.reference, /plain signature/, { ...expected, attestation })
  })
})

test("GitHub's own Sigstore needs a timestamp, but no logs", async () => {
  const image = await newImage()
  const evidence = { log: false, receipt: false }
  await attachBundle(oci, image, await sigstore.attest(image.digest, maker, {}, evidence))
  await expectVerified(image, { ...expected, sigstore_url: 'https://tuf-repo.github.com/' })
})

test('an interrupted check ends as interrupted, in every mode that looks', async () => {
  const image = await newImage()
  const service = await verification()
  for (const mode of MODES.slice(0, 2)) {
    const trial = service.check(image.reference, expected, mode, { signal: AbortSignal.abort() })
    await expect(trial).rejects.toMatchObject({ name: 'AbortError' })
  }
})
