import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startDockerRegistry } from '../../support/docker-registry.ts'
import { keelsonUser } from '../../support/keelson.ts'
import { GITHUB_ISSUER, type SignerFacts, testSigstore } from '../../support/sigstore.ts'
import { attachBundle } from '../image-verification/signed-image.ts'
import { ociClient } from '../oci/oci-client.ts'
import { pushArtifact } from '../skill-sources/skill-artifact.ts'

const workflow = (owner: string, tag: string): SignerFacts => ({
  identity: `https://github.com/${owner}/skills/.github/workflows/release.yml@refs/tags/${tag}`,
  issuer: GITHUB_ISSUER,
  repository: `https://github.com/${owner}/skills`,
  ref: `refs/tags/${tag}`,
  runner: 'github-hosted',
})

test('signed artifacts: the first signer is remembered, follows to newer versions, and nobody else does', async () => {
  const [registry, sigstore] = await Promise.all([startDockerRegistry(), testSigstore()])
  onTestFinished(registry.stop)
  const oci = ociClient()
  const reference = `${registry.host}/acme/tidy:stable`
  const publish = async (text: string, signer?: SignerFacts) => {
    const file = `---\nname: tidy\ndescription: Tidies up\n---\n${text}\n`
    const digest = await pushArtifact(oci, reference, { 'SKILL.md': file })
    const { bytes } = await oci.manifest(reference)
    if (signer)
      await attachBundle(oci, { reference, digest, manifest: bytes }, await sigstore.attest(digest, signer))
    return digest
  }
  const user = await keelsonUser()
  const project = join(await realpath(user.home), 'project')
  await mkdir(join(project, '.git'), { recursive: true })
  await mkdir(join(user.home, '.cursor'))
  await writeFile(join(user.home, 'root.json'), JSON.stringify(sigstore.trustRoot))
  const skill = (...words: string[]) =>
    user.run(['skill', ...words], {
      cwd: project,
      env: {
        KEELSON_INSECURE_REGISTRIES: registry.host,
        KEELSON_SIGSTORE_TRUSTED_ROOT: join(user.home, 'root.json'),
      },
    })
  const lock = () => readFile(join(project, 'keelson.lock.yaml'), 'utf8')

  await publish('one', workflow('acme', 'v1'))
  const install = await skill('install', reference, '--scope', 'project')
  expect(install, install.stderr).toMatchObject({ code: 0 })
  expect(install.stdout).toContain('signed by https://github.com/acme/skills/')
  expect(await lock()).toContain(`signerIdentity: ${workflow('acme', 'v1').identity}`)

  const second = await publish('two', workflow('acme', 'v2'))
  expect(await skill('upgrade', '--yes')).toMatchObject({ code: 0 })
  expect(await lock()).toContain(`digest: ${second}`)

  await publish('three', workflow('mallory', 'v3'))
  const blocked = await skill('upgrade', '--yes')
  expect(blocked.code).toBe(4)
  expect(blocked.stdout).toContain('signed by somebody else')
  await publish('four')
  expect(await skill('upgrade', '--yes', '--allow-signer-change')).toMatchObject({ code: 4 })
  const forced = await skill('install', reference, '--scope', 'project', '--force', '--allow-unsigned')
  expect(forced).toMatchObject({ code: 1, stdout: '' })
  expect(forced.stderr).toContain('this one is not signed')
  expect(await lock()).toContain(`digest: ${second}`)
  expect(await skill('sync', '--check')).toMatchObject({ code: 0 })
}, 180_000)
