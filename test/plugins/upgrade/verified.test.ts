import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { clientV1, textOf } from '../../e2e/clients.ts'
import { engineProblem } from '../../support/engine-problem.ts'
import { needs } from '../../support/left-out.ts'
import { type SignerFacts, type TestSigstore, testSigstore } from '../../support/sigstore.ts'
import { attachBundle } from '../image-verification/signed-image.ts'
import { ociClient } from '../oci/oci-client.ts'
import { docker, openWorld, type World } from './world.ts'

const maker: SignerFacts = {
  identity: 'https://github.com/acme/clock/.github/workflows/release.yml@refs/tags/v1.0.0',
  issuer: 'https://token.actions.githubusercontent.com',
  repository: 'https://github.com/acme/clock',
}
const provenance = {
  sigstore_url: 'tuf-repo-cdn.sigstore.dev',
  repository_uri: 'https://github.com/acme/clock',
  signer_identity: '/.github/workflows/release.yml',
  cert_issuer: maker.issuer,
}

const problem = engineProblem('docker', 'keelson-test/node:24')
const oci = ociClient()
let world: World
let sigstore: TestSigstore
let name: string
let url: string
let count = 0

beforeAll(async () => {
  if (problem) return
  ;[world, sigstore] = await Promise.all([openWorld(), testSigstore()])
  const root = join(world.home.path, 'trust-root.json')
  await writeFile(root, JSON.stringify(sigstore.trustRoot))
  world.home.env.KEELSON_SIGSTORE_TRUSTED_ROOT = root
  await world.push('1.0.0')
}, 180_000)
afterAll(() => world?.close(), 180_000)
beforeEach(async context => {
  needs(context, problem)
  name = `verified-${process.pid}-${++count}`
  await world.offer('1.0.0')
  const flags = ['--runtime', 'docker', '--image-verification', 'disabled']
  url = await world.home.ok(['run', 'clock', '--name', name, ...flags])
}, 120_000)
afterEach(async () => {
  if (!problem) await world.home.ok(['rm', name])
}, 120_000)

const version = async () => textOf(await (await clientV1(url)).callTool({ name: 'version' }))
const apply = (mode: string) => world.home.keelson(['upgrade', 'apply', name, '--image-verification', mode])

/** Pushes a version, signed by these. */
async function pushSigned(tag: string, signer: SignerFacts): Promise<string> {
  await world.push(tag)
  const reference = `${world.repository}:${tag}`
  const { digest } = (await oci.manifest(reference)).descriptor
  await attachBundle(oci, { reference, digest }, await sigstore.attest(digest, signer))
  await world.offer(tag, { provenance })
  return digest
}

async function expectRefused(mode: string, reason: string): Promise<void> {
  const [before] = await world.containers(name)
  const refused = await apply(mode)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain(`${world.repository}:1.0.0 serves as before`)
  expect(refused.stderr).toContain(reason)
  expect(await world.containers(name)).toEqual([before])
  expect(await version()).toBe('1.0.0')
}

describe('where signatures are demanded', { timeout: 300_000 }, () => {
  test('a version that its makers signed is the one that runs, by the digest that was verified', async () => {
    const digest = await pushSigned('2.0.0', maker)
    const applied = await apply('enabled')
    expect(applied).toMatchObject({ code: 0 })
    expect(await version()).toBe('2.0.0')
    const [container = ''] = await world.containers(name)
    const pinned = `${world.repository}@${digest}`
    expect(await docker('inspect', '--format', '{{.Config.Image}}', container)).toBe(pinned)
    expect(await world.config(name)).toMatchObject({ image: pinned, source: `${world.repository}:2.0.0` })

    await world.push('2.0.0', 'good', { version: 'another' })
    await world.home.ok(['stop', name])
    await world.home.ok(['start', name])
    expect(await version()).toBe('2.0.0')
  })

  test('a version that nobody signed is refused', async () => {
    await world.push('3.0.0')
    await world.offer('3.0.0', { provenance })
    await expectRefused('enabled', 'it has no signature')
  })

  test('a version that somebody else signed is refused', async () => {
    await pushSigned('4.0.0', { ...maker, repository: 'https://github.com/evil/clock' })
    await expectRefused('enabled', 'is not verified')
  })

  test('a tag that was moved after it was signed is refused', async () => {
    await pushSigned('5.0.0', maker)
    await world.push('5.0.0', 'good', { version: 'moved' })
    await expectRefused('enabled', 'is not verified')
  })

  test('a signature of another version is refused', async () => {
    const digest = await pushSigned('6.0.0', maker)
    await world.push('6.1.0')
    const reference = `${world.repository}:6.1.0`
    const image = { reference, digest: (await oci.manifest(reference)).descriptor.digest }
    await attachBundle(oci, image, await sigstore.attest(digest, maker))
    await world.offer('6.1.0', { provenance })
    await expectRefused('enabled', 'a signature is for another image')
  })
})

test('where they are only looked for, an unsigned version runs with a warning', {
  timeout: 180_000,
}, async () => {
  await world.push('7.0.0')
  await world.offer('7.0.0', { provenance })
  const applied = await apply('warn')
  expect(applied.code).toBe(0)
  expect(applied.stderr).toContain(':7.0.0 is not verified: it has no signature.')
  expect(await version()).toBe('7.0.0')
})
