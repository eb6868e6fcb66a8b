import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createImageVerification } from '../../../plugins/image-verification/service.ts'
import { createTrustRoots } from '../../../plugins/image-verification/trust-roots.ts'
import { type DockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts'
import { GITHUB_ISSUER, type SignerFacts, type TestSigstore, testSigstore } from '../../support/sigstore.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { attachBundle, attachCosign } from '../image-verification/signed-image.ts'
import { ociClient } from '../oci/oci-client.ts'
import { gitRepository } from './git-repository.ts'
import { gitServer } from './git-server.ts'
import { addSignature, signDetached } from './sign-commit.ts'
import { pushArtifact } from './skill-artifact.ts'
import { SKILL, skillSources } from './skill-sources.ts'

const maker: SignerFacts = {
  identity: 'https://github.com/acme/skills/.github/workflows/release.yml@refs/tags/v1.0.0',
  issuer: GITHUB_ISSUER,
  repository: 'https://github.com/acme/skills',
  ref: 'refs/tags/v1.0.0',
  runner: 'github-hosted',
}
const recorded = {
  signerIdentity: maker.identity,
  certIssuer: maker.issuer,
  repositoryUri: maker.repository,
  repositoryRef: maker.ref,
  runnerEnvironment: maker.runner,
}

let registry: DockerRegistry
let sigstore: TestSigstore
let stranger: TestSigstore
const oci = ociClient()

beforeAll(async () => {
  ;[registry, sigstore, stranger] = await Promise.all([startDockerRegistry(), testSigstore(), testSigstore()])
})
afterAll(() => registry.stop())

/** Sources that believe the test's own Sigstore, and no other. */
async function trusting(hosts: string[] = []) {
  const folder = await temporaryFolder()
  const file = join(folder, 'root.json')
  await writeFile(file, JSON.stringify(sigstore.trustRoot))
  const trustRoots = createTrustRoots({
    cacheFolder: folder,
    file,
    debug: () => undefined,
    warn: () => undefined,
  })
  return skillSources({ hosts, verification: createImageVerification({ oci, trustRoots }) })
}

async function newArtifact() {
  const reference = `${registry.host}/${randomBytes(4).toString('hex')}/a-skill:1`
  const digest = await pushArtifact(oci, reference, { 'SKILL.md': SKILL })
  return { reference, digest, manifest: (await oci.manifest(reference)).bytes }
}

test('the signer of an artifact is returned, whoever that is', async () => {
  const artifact = await newArtifact()
  await attachBundle(oci, artifact, await sigstore.attest(artifact.digest, maker))
  expect((await (await trusting()).get(artifact.reference)).signer).toEqual(recorded)
})

test("cosign's older signatures count, too, and what a certificate does not say is left out", async () => {
  const artifact = await newArtifact()
  const person = { identity: 'someone@example.com', issuer: 'https://accounts.example.com' }
  await attachCosign(oci, artifact, [await sigstore.cosignLayer(artifact.digest, person)])
  expect((await (await trusting()).get(artifact.reference)).signer).toEqual({
    signerIdentity: person.identity,
    certIssuer: person.issuer,
  })
})

test('an artifact without a signature has no signer', async () => {
  const { reference } = await newArtifact()
  expect(await (await trusting()).get(reference)).not.toHaveProperty('signer')
})

test('a signature made with a plain key does not say who made it, and counts as none', async () => {
  const artifact = await newArtifact()
  const { payload, annotations } = await sigstore.cosignLayer(artifact.digest, maker)
  const { 'dev.sigstore.cosign/certificate': _, ...keyed } = annotations
  await attachCosign(oci, artifact, [{ payload, annotations: keyed }])
  const sources = await trusting()
  expect(await sources.get(artifact.reference)).not.toHaveProperty('signer')
  await attachBundle(oci, artifact, await stranger.attest(artifact.digest, maker))
  await expect(sources.get(artifact.reference)).rejects.toMatchObject({ code: 'skill_signature_invalid' })
})

test('a good signature is found beside bad ones', async () => {
  const artifact = await newArtifact()
  await attachBundle(oci, artifact, await stranger.attest(artifact.digest, maker))
  await attachBundle(oci, artifact, await sigstore.attest(artifact.digest, maker))
  expect((await (await trusting()).get(artifact.reference)).signer).toEqual(recorded)
})

test.each([
  [
    'for another digest',
    (digest: string) => sigstore.attest(digest, maker, { digest: `sha256:${'0'.repeat(64)}` }),
  ],
  ['of an authority that nobody knows', (digest: string) => stranger.attest(digest, maker)],
  ['that is in no log', (digest: string) => sigstore.attest(digest, maker, {}, { log: false })],
])('a signature %s proves nothing, which is not the same as none', async (_, make) => {
  const artifact = await newArtifact()
  await attachBundle(oci, artifact, await make(artifact.digest))
  const sources = await trusting()
  await expect(sources.get(artifact.reference)).rejects.toMatchObject({
    code: 'skill_signature_invalid',
    status: 403,
  })
  expect(await sources.left()).toEqual([])
  expect((await sources.preview(artifact.reference)).name).toBe('a-skill')
})

/** A repository with one commit, not signed yet. */
async function published() {
  const root = await temporaryFolder()
  const repository = await gitRepository(root)
  await repository.commit({ 'SKILL.md': SKILL })
  const { host } = await gitServer(root)
  return { repository, address: `git://${host}/acme/skills`, sources: await trusting([host]) }
}

test('the signer of a commit with gitsign is returned, as provisional', async () => {
  const { repository, address, sources } = await published()
  const commit = await addSignature(repository, content => signDetached(sigstore, content, maker))
  expect(await sources.get(address)).toMatchObject({
    digest: commit,
    signer: { ...recorded, provisional: true },
  })
})

test('a commit without a signature has no signer', async () => {
  const { address, sources } = await published()
  expect(await sources.get(address)).not.toHaveProperty('signer')
})

test.each(['PGP SIGNATURE', 'SSH SIGNATURE'])(
  'a %s of a commit says nothing about who made it, and counts as none',
  async kind => {
    const { repository, address, sources } = await published()
    await addSignature(repository, () => `-----BEGIN ${kind}-----\n\nabcd\n-----END ${kind}-----`)
    expect(await sources.get(address)).not.toHaveProperty('signer')
  },
)

test.each<[string, (content: Buffer) => Promise<Buffer> | Buffer | string, RegExp]>([
  ['of something else', () => signDetached(sigstore, Buffer.from('other'), maker), /for something else/],
  ['of an authority that nobody knows', content => signDetached(stranger, content, maker), /does not hold/],
  [
    'without a receipt of the certificate log',
    content => signDetached(sigstore, content, maker, { receipt: false }),
    /SCT/,
  ],
  [
    'whose certificate was over',
    content => signDetached(sigstore, content, maker, { certifiedAt: new Date('2020-01-01') }),
    /does not hold/,
  ],
  [
    'that is not detached',
    content => signDetached(sigstore, content, maker, {}, ['-nodetach']),
    /not detached/,
  ],
  [
    'without the certificate',
    content => signDetached(sigstore, content, maker, {}, ['-nocerts']),
    /no certificate/,
  ],
  [
    'without signed attributes',
    content => signDetached(sigstore, content, maker, {}, ['-noattr']),
    /does not hold/,
  ],
  [
    'that is cut off',
    async content => (await signDetached(sigstore, content, maker)).subarray(0, -20),
    /cut off/,
  ],
  [
    'that is changed',
    async content => flipLast(await signDetached(sigstore, content, maker)),
    /does not hold/,
  ],
  ['that is nothing', () => Buffer.from('nothing'), /does not hold/],
  ['that is empty', () => '-----BEGIN SIGNED MESSAGE-----\n-----END SIGNED MESSAGE-----', /does not hold/],
])('a signature of a commit %s is refused', async (_, make, reason) => {
  const { repository, address, sources } = await published()
  await addSignature(repository, make)
  await expect(sources.get(address)).rejects.toMatchObject({
    code: 'skill_signature_invalid',
    status: 403,
    message: expect.stringMatching(reason),
  })
  expect(await sources.left()).toEqual([])
})

/** The signature itself is the last value. */
function flipLast(bytes: Buffer): Buffer {
  const last = bytes.length - 1
  bytes[last] = (bytes[last] ?? 0) ^ 1
  return bytes
}
