import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { attachBundle } from '../plugins/image-verification/signed-image.ts'
import { ociClient } from '../plugins/oci/oci-client.ts'
import { type DockerRegistry, startDockerRegistry } from '../support/docker-registry.ts'
import { engineProblem } from '../support/engine-problem.ts'
import { needs } from '../support/left-out.ts'
import { type SignerFacts, type TestSigstore, testSigstore } from '../support/sigstore.ts'
import { clientV1 } from './clients.ts'
import { type Home, openHome } from './home.ts'

// A registry entry with provenance, an image that docker pushed, a signature made by the test, and the
// real program that looks, pulls and runs.

const maker: SignerFacts = {
  identity: 'https://github.com/acme/tool/.github/workflows/release.yml@refs/tags/v1.0.0',
  issuer: 'https://token.actions.githubusercontent.com',
  repository: 'https://github.com/acme/tool',
}

const oci = ociClient()
let home: Home
let registry: DockerRegistry
let sigstore: TestSigstore
const problem = engineProblem('docker', 'keelson-test/busybox:1')

beforeAll(async () => {
  ;[home, registry, sigstore] = await Promise.all([openHome(), startDockerRegistry(), testSigstore()])
  const root = join(home.path, 'trust-root.json')
  await writeFile(root, JSON.stringify(sigstore.trustRoot))
  home.env.KEELSON_SIGSTORE_TRUSTED_ROOT = root
})
afterAll(async () => {
  await home.close()
  const images = `${registry.host}/acme/tool`
  // By name: another test may have the same image under a name of its own.
  const args = [
    'images',
    '--digests',
    '--format',
    '{{.Repository}}:{{.Tag}} {{.Repository}}@{{.Digest}}',
    images,
  ]
  const { stdout } = spawnSync('docker', args, { encoding: 'utf8' })
  const names = stdout.split(/\s+/).filter(name => name && !name.includes('<none>'))
  if (names.length) docker(['image', 'rm', '--force', ...new Set(names)])
  await registry.stop()
}, 120_000)

function docker(args: string[], input = ''): void {
  const { status, stderr } = spawnSync('docker', args, { input, encoding: 'utf8', timeout: 120_000 })
  if (status !== 0) throw new Error(`docker ${args.join(' ')}: ${stderr}`)
}

/** Builds and pushes a stdio server that calls itself so; nothing of it stays in the engine. */
async function pushServer(name: string, tag: string): Promise<string> {
  const reference = `${registry.host}/acme/tool:${tag}`
  const answer = `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"${name}","version":"1"}}}`
  const script = [
    'while read -r line; do',
    `id=$(echo "$line" | sed -n 's/.*"id":\\("[^"]*"\\|[0-9]*\\).*/\\1/p')`,
    `[ -z "$id" ] || printf '${answer}\\n' "$id"`,
    'done',
  ].join('\n')
  const file = `FROM keelson-test/busybox:1\nENTRYPOINT ${JSON.stringify(['sh', '-c', script.replaceAll('\n', '; ').replace('do;', 'do')])}\n`
  docker(['build', '--quiet', '--tag', reference, '-'], file)
  docker(['push', '--quiet', reference])
  docker(['image', 'rm', '--force', reference])
  return (await oci.manifest(reference)).descriptor.digest
}

async function useRegistry(tag: string): Promise<void> {
  const entry = {
    description: 'a tool',
    image: `${registry.host}/acme/tool:${tag}`,
    transport: 'stdio',
    status: 'Active',
    tier: 'Community',
    tools: ['none'],
    provenance: {
      sigstore_url: 'tuf-repo-cdn.sigstore.dev',
      repository_uri: 'https://github.com/acme/tool',
      signer_identity: '/.github/workflows/release.yml',
      cert_issuer: maker.issuer,
    },
  }
  const file = join(home.path, 'registry.json')
  const document = { version: '1.0.0', last_updated: '2026-01-01T00:00:00Z', servers: { tool: entry } }
  await writeFile(file, JSON.stringify(document))
  await home.ok(['config', 'set-registry', file])
}

async function exported(name: string): Promise<{ image?: string; source?: string }> {
  const file = join(home.path, 'exported.json')
  await home.ok(['export', name, file])
  return JSON.parse(await readFile(file, 'utf8'))
}

describe('a server of the registry', { timeout: 180_000 }, () => {
  test('whose image is signed as the entry says runs by that digest, though its tag moves', async context => {
    needs(context, problem)
    const digest = await pushServer('the signed one', '1.0.0')
    const reference = `${registry.host}/acme/tool:1.0.0`
    const image = { reference, digest }
    await attachBundle(oci, image, await sigstore.attest(digest, maker))
    await useRegistry('1.0.0')

    const url = await home.ok([
      'run',
      'tool',
      '--name',
      'e2e-signed',
      '--runtime',
      'docker',
      '--image-verification',
      'enabled',
    ])
    const config = await exported('e2e-signed')
    await pushServer('the other one', '1.0.0')
    await home.ok(['restart', 'e2e-signed'])

    const client = await clientV1(url)
    expect(client.getServerVersion()?.name).toBe('the signed one')
    expect(config.image).toBe(`${registry.host}/acme/tool@${digest}`)
    expect(config.source).toBe(reference)
  })

  test('whose image is unsigned is refused, or runs with a warning', async context => {
    needs(context, problem)
    await pushServer('unsigned', '2.0.0')
    await useRegistry('2.0.0')
    const run = (mode: string) =>
      home.keelson([
        'run',
        'tool',
        '--name',
        `e2e-${mode}`,
        '--runtime',
        'docker',
        '--image-verification',
        mode,
      ])

    const refused = await run('enabled')
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('acme/tool:2.0.0 is not verified: it has no signature.')
    expect(await home.ok(['list', '--all'])).not.toContain('e2e-enabled')

    const warned = await run('warn')
    expect(warned.code).toBe(0)
    expect(warned.stderr).toContain('acme/tool:2.0.0 is not verified: it has no signature.')

    const silent = await run('disabled')
    expect(silent.code).toBe(0)
    expect(silent.stderr).not.toContain('verified')
  })

  test('an image that no registry names is refused where verification is demanded, before anything is pulled', async () => {
    const refused = await home.keelson([
      'run',
      `${registry.host}/acme/tool:1.0.0`,
      '--image-verification',
      'enabled',
    ])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('nothing is known of who must have signed it')
  })
})
