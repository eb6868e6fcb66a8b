import { expect, test } from 'vitest'
import { readCatalogue } from '../../../plugins/registry/catalogue/built-in-catalogue.ts'
import { catalogueProblems } from '../../../plugins/registry/catalogue-problems.ts'
import { isRemote } from '../../../plugins/registry/formats/legacy.ts'
import { parseRegistry } from '../../../plugins/registry/formats/parse-registry.ts'
import { toView } from '../../../plugins/registry/formats/to-view.ts'
import { newestVersion } from '../../../src/lib/newest-version.ts'
import { parsePackageReference } from '../../../src/lib/package-reference.ts'
import { leaveOut } from '../../support/left-out.ts'

const { servers, skills } = parseRegistry(readCatalogue(), 'catalogue').document
const views = servers.map(toView)

test('the catalogue is consistent', () => {
  expect(catalogueProblems(readCatalogue(), 'catalogue')).toEqual([])
})

test('it has at least 60 servers of every kind, and skills', () => {
  const kinds = new Set(
    views.map(view => (isRemote(view) ? 'remote' : (/^(npx|uvx|go):/.exec(view.image)?.[1] ?? 'image'))),
  )

  expect(servers.length).toBeGreaterThanOrEqual(60)
  expect([...kinds].sort()).toEqual(['go', 'image', 'npx', 'remote', 'uvx'])
  expect(skills.length).toBeGreaterThan(0)
})

const packages = views.flatMap(view => {
  const [, scheme, text = ''] = isRemote(view) ? [] : (/^(npx|uvx|go):\/\/(.+)$/.exec(view.image) ?? [])
  const reference = scheme && parsePackageReference(scheme as 'npx' | 'uvx' | 'go', text)
  return reference ? [reference] : []
})

test.for(packages.map(reference => [`${reference.scheme}://${reference.name}`, reference] as const))(
  '%s exists',
  { timeout: 150_000, concurrent: true },
  async ([, reference], context) => {
    const answer = await newestVersion(reference)

    // Only a registry that answered can say that a package does not exist.
    if (answer.kind === 'unknown') leaveOut(context, `nobody could be asked: ${answer.problem}`)
    expect(answer).toMatchObject({ kind: 'found' })
  },
)

test.each<[what: string, change: (server: Record<string, never>) => void, text: string]>([
  [
    'a variable that is not marked as a secret',
    server => set(server, ['packages', 0, 'environmentVariables'], [{ name: 'API_TOKEN', description: 'd' }]),
    'API_TOKEN is not marked as a secret',
  ],
  [
    'a secret with a default',
    server =>
      set(
        server,
        ['packages', 0, 'environmentVariables'],
        [{ name: 'KEY', description: 'd', isSecret: true, default: 'x' }],
      ),
    'has a default',
  ],
  [
    'an image without a tag',
    server => set(server, ['packages', 0, 'identifier'], 'example/a'),
    'neither tag nor digest',
  ],
  [
    'not an image reference',
    server => set(server, ['packages', 0, 'identifier'], 'Not An Image'),
    'not an image reference',
  ],
  [
    'an HTTP transport without a port',
    server => set(server, ['packages', 0, 'transport'], { type: 'sse' }),
    'no target_port',
  ],
  [
    'a long description',
    server => set(server, ['description'], 'x'.repeat(101)),
    'data.servers[0].description (line ',
  ],
  ['a name without a namespace', server => set(server, ['name'], 'plain'), 'data.servers[0].name (line '],
  ['a status nobody knows', server => set(server, [...EXTENSION, 'status'], 'maybe'), 'status'],
])('%s is found', (_, change, text) => {
  const server = JSON.parse(JSON.stringify(GOOD))
  expect(verify(server)).toEqual([])
  change(server)

  expect(verify(server).join('\n')).toContain(text)
})

test('a server that is listed twice is found', () => {
  expect(catalogueProblems(file([GOOD, GOOD]), 'f').join()).toContain('listed twice')
  expect(catalogueProblems(file([GOOD, { ...GOOD, name: 'com.other/a' }]), 'f').join()).toContain(
    'two servers can be run by this name',
  )
})

const KEY = 'example/a:1'
const EXTENSION = ['_meta', 'io.modelcontextprotocol.registry/publisher-provided', 'io.github.stacklok', KEY]
const GOOD = {
  name: 'com.example/a',
  description: 'A server',
  version: '1.0.0',
  packages: [{ registryType: 'oci', identifier: KEY, transport: { type: 'stdio' } }],
  _meta: {
    'io.modelcontextprotocol.registry/publisher-provided': {
      'io.github.stacklok': {
        [KEY]: { status: 'Active', tier: 'Community', permissions: { network: { outbound: {} } } },
      },
    },
  },
}
const file = (list: object[]) => JSON.stringify({ version: '1.0.0', data: { servers: list } }, null, 2)
const verify = (server: object) => catalogueProblems(file([server]), 'f')

function set(target: object, path: (string | number)[], value: unknown): void {
  const parent = path.slice(0, -1).reduce<object>((at, key) => Reflect.get(at, key) as object, target)
  Reflect.set(parent, path.at(-1) ?? '', value)
}

const provenance = {
  repository_uri: 'https://github.com/a/b',
  signer_identity: '/.github/workflows/release.yml',
  cert_issuer: 'https://token.actions.githubusercontent.com',
}

test.each([
  [{ repository_uri: '', signer_identity: '' }, 'neither repository_uri nor signer_identity'],
  [{ repository_uri: 'github.com/a/b' }, 'repository_uri is not an https URL'],
  [{ repository_uri: 'https://github.com/a/b.git' }, 'ends as no certificate says it'],
  [{ repository_uri: '' }, 'needs a repository_uri'],
  [{ signer_identity: 'somebody' }, 'not a path, URL or e-mail address'],
  [{ cert_issuer: '' }, 'cert_issuer is not an https URL'],
  [{ runner_environment: 'my laptop' }, 'neither github-hosted nor self-hosted'],
  [{ sigstore_url: 'https://tuf-repo-cdn.sigstore.dev' }, 'sigstore_url is not one of'],
])('provenance with %j is reported', (change, text) => {
  const file = (facts: object) =>
    JSON.stringify({ version: '1.0.0', servers: { a: { ...image, provenance: facts } } })
  const image = {
    description: 'd',
    image: 'example/a:1',
    transport: 'stdio',
    status: 'Active',
    tier: 'Community',
    tools: [],
    permissions: { network: { outbound: {} } },
  }

  expect(catalogueProblems(file(provenance), 'file')).toEqual([])
  expect(catalogueProblems(file({ ...provenance, ...change }), 'file').join()).toContain(text)
})

test('who signs an image of the catalogue is said only of images of registries that keep signatures', () => {
  const signed = views.flatMap(view => (!isRemote(view) && view.provenance ? [view.image] : []))

  expect(signed.length).toBeGreaterThanOrEqual(5)
  expect(signed.filter(image => !image.startsWith('ghcr.io/'))).toEqual([])
})
