import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { attachBundle } from '../plugins/image-verification/signed-image.ts'
import { ociClient } from '../plugins/oci/oci-client.ts'
import { openWorld, type World } from '../plugins/upgrade/world.ts'
import { startApi } from '../support/api-server.ts'
import { engineProblem } from '../support/engine-problem.ts'
import type { KeelsonUser } from '../support/keelson.ts'
import { needs } from '../support/left-out.ts'
import { type SignerFacts, type TestSigstore, testSigstore } from '../support/sigstore.ts'

// A registry that turns: an entry whose next version comes from somebody else, or from nobody. What the
// workload was run with is what its next version needs, on every way to it.

const maker: SignerFacts = {
  identity: 'https://github.com/acme/clock/.github/workflows/release.yml@refs/tags/v1.0.0',
  issuer: 'https://token.actions.githubusercontent.com',
  repository: 'https://github.com/acme/clock',
}
const thief: SignerFacts = {
  ...maker,
  identity: 'https://github.com/thief/clock/.github/workflows/release.yml@refs/tags/v1.0.0',
  repository: 'https://github.com/thief/clock',
}
const provenanceOf = ({ repository = '', issuer }: SignerFacts) => ({
  sigstore_url: 'tuf-repo-cdn.sigstore.dev',
  repository_uri: repository,
  signer_identity: '/.github/workflows/release.yml',
  cert_issuer: issuer,
})

const path = '/api/v1beta/workloads'
const problem = engineProblem('docker', 'keelson-test/node:24')
const oci = ociClient()
let world: World
let sigstore: TestSigstore
let name = ''
let count = 0

beforeAll(async () => {
  if (problem) return
  ;[world, sigstore] = await Promise.all([openWorld(), testSigstore()])
  const root = join(world.home.path, 'trust-root.json')
  await writeFile(root, JSON.stringify(sigstore.trustRoot))
  world.home.env.KEELSON_SIGSTORE_TRUSTED_ROOT = root
  await pushSigned('1.0.0', maker)
}, 240_000)
afterAll(() => world?.close(), 180_000)
beforeEach(context => {
  needs(context, problem)
  name = `kept-${process.pid}-${++count}`
})
afterEach(async () => {
  if (!problem) await world.home.keelson(['rm', name])
}, 120_000)

async function pushSigned(tag: string, signer: SignerFacts): Promise<void> {
  await world.push(tag)
  const reference = `${world.repository}:${tag}`
  const { digest } = (await oci.manifest(reference)).descriptor
  await attachBundle(oci, { reference, digest }, await sigstore.attest(digest, signer))
}

/** A workload of the version that its maker signed. */
async function runSigned(mode: string): Promise<void> {
  await world.offer('1.0.0', { provenance: provenanceOf(maker) })
  await world.home.ok(['run', 'clock', '--name', name, '--runtime', 'docker', '--image-verification', mode])
}

const apply = (...flags: string[]) => world.home.keelson(['upgrade', 'apply', name, '--yes', ...flags])
const serve = () => {
  const { home } = world
  const user: KeelsonUser = {
    home: home.path,
    env: home.env,
    run: (args, options) => home.keelson(args, options) as never,
  }
  return startApi({ user })
}

describe('an upgrade', { timeout: 300_000 }, () => {
  test('asks for the mode and the maker that the workload was run with', async () => {
    await runSigned('enabled')
    expect(await world.config(name)).toMatchObject({
      image_verification: 'enabled',
      image_signer: {
        identity: maker.identity,
        issuer: maker.issuer,
        repository: maker.repository,
        verified: true,
      },
    })

    await world.push('2.0.0')
    await world.offer('2.0.0', { provenance: provenanceOf(maker) })
    const before = await world.config(name)
    const refused = await apply()
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('it has no signature')
    const api = await serve()
    const answer = await api.ask('POST', `${path}/${name}/upgrade`)
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('it has no signature')])

    for (const mode of ['warn', 'disabled']) {
      const lowered = await apply('--image-verification', mode)
      expect(lowered.code).toBe(2)
      expect(lowered.stderr).toContain(`was run with --image-verification enabled; ${mode} would be less`)
    }
    expect(await world.config(name)).toEqual(before)

    const taken = await apply('--image-verification', 'disabled', '--accept-less-verification')
    expect(taken.code, taken.stderr).toBe(0)
    expect(taken.stderr).toContain('as requested')
  })

  test('that others have signed is refused in every mode, though the entry names them', async () => {
    await runSigned('warn')
    await pushSigned('3.0.0', thief)
    await world.offer('3.0.0', { provenance: provenanceOf(thief) })
    const refused = await apply()
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('The maker of')
    expect(refused.stderr).toContain('thief')
    const api = await serve()
    const answer = await api.ask('POST', `${path}/${name}/upgrade`)
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('The maker of')])

    const taken = await apply('--accept-changed-signer')
    expect(taken.code, taken.stderr).toBe(0)
    expect(await world.config(name)).toMatchObject({ image_signer: { repository: thief.repository } })
  })

  test('of which an entry suddenly names no maker is refused, though only warnings are wanted', async () => {
    await runSigned('warn')
    await world.push('4.0.0')
    await world.offer('4.0.0')
    const refused = await apply()
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('nothing is known of who must have signed it')
    const api = await serve()
    expect((await api.ask('POST', `${path}/${name}/upgrade`)).status).toBe(422)
  })

  test('that the same maker signed, with a later tag, is taken', async () => {
    await runSigned('enabled')
    await pushSigned('5.0.0', { ...maker, identity: maker.identity.replace('v1.0.0', 'v5.0.0') })
    await world.offer('5.0.0', { provenance: provenanceOf(maker) })
    const taken = await apply()
    expect(taken.code, taken.stderr).toBe(0)
    expect(await world.config(name)).toMatchObject({ image_verification: 'enabled' })
  })
})

describe('an exported run config', { timeout: 240_000 }, () => {
  test('is verified again, with the mode that it was run with', async () => {
    await runSigned('enabled')
    const file = join(world.home.path, 'signed.json')
    await world.home.ok(['export', name, file])
    await world.home.ok(['rm', name])

    const others = join(world.home.path, 'other-root.json')
    await writeFile(others, JSON.stringify((await testSigstore()).trustRoot))
    const env = { KEELSON_SIGSTORE_TRUSTED_ROOT: others }
    const refused = await world.home.keelson(['run', '--from-config', file], { env })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('is not verified')
    expect(await world.home.ok(['list', '--all'])).not.toContain(name)

    const { image_signer: _, ...unnamed } = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(`${file}.unnamed`, JSON.stringify(unnamed))
    const unknown = await world.home.keelson(['run', '--from-config', `${file}.unnamed`])
    expect(unknown.stderr).toContain('nothing is known of who must have signed it')

    await world.home.ok(['run', '--from-config', file])
    expect(await world.config(name)).toMatchObject({
      image_verification: 'enabled',
      image_signer: { identity: maker.identity, verified: true },
    })
  })
})

test('an edit over HTTP keeps mode and maker, and takes no image of others', {
  timeout: 240_000,
}, async () => {
  await runSigned('warn')
  await pushSigned('6.0.0', thief)
  const kept = await world.config(name)
  const api = await serve()
  const details = (await api.ask('GET', `${path}/${name}`)).json() as object
  const stolen = { ...details, image: `${world.repository}:6.0.0` }
  const refused = await api.ask('POST', `${path}/${name}/edit`, stolen)
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('not verified')])
  expect(await world.config(name)).toEqual(kept)

  const edited = await api.ask('POST', `${path}/${name}/edit`, { ...details, trust_proxy_headers: true })
  expect([edited.status, edited.text]).toEqual([200, expect.stringContaining(name)])
  expect(await world.config(name)).toMatchObject({
    trust_proxy_headers: true,
    image: kept.image,
    image_verification: 'warn',
    image_signer: kept.image_signer,
  })
})
