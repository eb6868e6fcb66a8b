import fc from 'fast-check'
import type { ImageServer, RemoteServer } from '../../../plugins/registry/formats/legacy.ts'
import type { ServerJson } from '../../../plugins/registry/formats/server-json.ts'
import type { SkillEntry } from '../../../plugins/registry/formats/skill-entry.ts'

/** Documents with any choice of the specification's members, each within its limits. */

const text = fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' })
const longText = fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' })
const words = fc.array(text, { maxLength: 3 })
const short = fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9._-]{1,20}$/)
const fullName = fc
  .tuple(fc.stringMatching(/^[a-z]{2,5}\.[a-z0-9.-]{1,10}$/), short)
  .map(([a, b]) => `${a}/${b}`)
const envName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/)
const port = fc.integer({ min: 1, max: 65535 })
const bool = fc.boolean()
const map = fc.dictionary(short, text, { maxKeys: 3, noNullPrototype: true })
const anyMap = fc.dictionary(
  short,
  fc.jsonValue({ maxDepth: 2, noUnicodeString: false }).map(value => JSON.parse(JSON.stringify(value))),
  { maxKeys: 3, noNullPrototype: true },
)
const url = fc.webUrl({ validSchemes: ['https'] })

/** A record whose members are there or not, but never undefined. */
const some = <T extends object>(
  members: { [K in keyof T]: fc.Arbitrary<T[K]> },
  requiredKeys: (keyof T)[] = [],
) => fc.record(members, { requiredKeys: requiredKeys as never[], noNullPrototype: true }) as fc.Arbitrary<T>

const permissions = some({
  name: text,
  privileged: bool,
  read: words,
  write: words,
  network: some({
    mode: text,
    inbound: some({ allow_host: words }),
    outbound: some({
      allow_host: words,
      allow_port: fc.array(port, { maxLength: 3 }),
      insecure_allow_all: bool,
    }),
  }),
})
const envVar = some({ name: envName, description: text, default: text, required: bool, secret: bool }, [
  'name',
])
const header = some(
  { name: short, description: text, default: text, choices: words, required: bool, secret: bool },
  ['name'],
)
const provenance = some({
  attestation: some({ predicate: anyMap, predicate_type: text }),
  cert_issuer: url,
  repository_ref: text,
  repository_uri: url,
  runner_environment: text,
  signer_identity: text,
  sigstore_url: text,
})
const oauth = some({
  authorize_url: url,
  token_url: url,
  issuer: url,
  client_id: text,
  resource: url,
  callback_port: port,
  use_pkce: bool,
  scopes: words,
  oauth_params: map,
})
const facts = {
  title: longText,
  description: longText,
  repository_url: url,
  overview: longText,
  status: fc.constantFrom('active', 'deprecated', 'Active', 'Deprecated'),
  tier: fc.constantFrom('Official', 'Community'),
  transport: fc.constantFrom('stdio', 'sse', 'streamable-http'),
  tools: fc.array(short, { maxLength: 3 }),
  tags: fc.array(fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,8}[a-z0-9]$/), { maxLength: 3 }),
  custom_metadata: anyMap,
  env_vars: fc.array(envVar, { maxLength: 3 }),
  metadata: some({
    last_updated: text,
    stars: fc.nat(),
    kubernetes: some({ image: text, kind: text, name: text, namespace: text, transport: text, uid: text }),
  }),
  proxy_port: port,
  stateless: bool,
  tool_definitions: fc.array(anyMap, { maxLength: 2 }),
}
const image = fc.oneof(
  fc.constantFrom('ghcr.io/a/b:1.0', 'busybox', `a/b@sha256:${'0'.repeat(64)}`),
  fc.constantFrom(
    'npx://@scope/name@1.2.3',
    'npx://name',
    'uvx://mcp-server-time@2026.1.1',
    'go://example.com/m/cmd@v1.0.0',
  ),
)

/** What the older format must have. */
const needed = ['description', 'status', 'transport'] as const

export const legacyImage = some<ImageServer>(
  { ...facts, image, target_port: port, permissions, args: words, provenance, docker_tags: words } as never,
  ['image', ...needed],
)
export const legacyRemote = some<RemoteServer>(
  {
    ...facts,
    transport: fc.constantFrom('sse', 'streamable-http'),
    url,
    headers: fc.array(header, { maxLength: 3 }),
    oauth_config: oauth,
  } as never,
  ['url', ...needed],
)
export const legacyName = fc.oneof(short, fullName)

const variable = {
  description: text,
  default: text,
  format: fc.constantFrom('string', 'number', 'boolean', 'filepath'),
  placeholder: text,
  value: fc.oneof(text, fc.constant('{key} of {user}')),
  choices: words,
  isRequired: bool,
  isSecret: bool,
}
const variables = fc.dictionary(short, some(variable), { maxKeys: 2, noNullPrototype: true })
const input = some({ ...variable, name: envName, variables }, ['name'])
const argument = some(
  {
    ...variable,
    variables,
    type: fc.constantFrom('named', 'positional'),
    name: fc.constantFrom('-e', '--flag', '--env'),
    valueHint: text,
    isRepeated: bool,
  },
  ['type'],
)
const inputs = fc.array(input, { maxLength: 2 })
const args = fc.array(argument, { maxLength: 2 })
const transport = some(
  {
    type: facts.transport,
    url: fc.constantFrom('http://localhost:80', 'http://localhost', 'http://{host}:9000/mcp'),
    headers: inputs,
    variables,
  },
  ['type'],
)
const onePackage = some(
  {
    registryType: fc.constantFrom('oci', 'npm', 'pypi', 'nuget', 'mcpb', 'go'),
    registryBaseUrl: url,
    identifier: fc.constantFrom('ghcr.io/a/b:1', 'ghcr.io/a/b', '@scope/name', 'name'),
    version: fc.constantFrom('1.0.0', '2026.1.1'),
    fileSha256: fc.constant('0'.repeat(64)),
    runtimeHint: text,
    transport,
    environmentVariables: inputs,
    runtimeArguments: args,
    packageArguments: args,
  },
  ['registryType', 'identifier', 'transport'],
)
const remote = some({ type: fc.constantFrom('sse', 'streamable-http'), url, headers: inputs, variables }, [
  'type',
  'url',
])
const extension = some(
  { ...facts, permissions, args: words, provenance, docker_tags: words, oauth_config: oauth },
  ['status'],
)
const meta = fc.oneof(
  anyMap,
  fc.tuple(short, extension).map(([key, value]) => ({
    'io.modelcontextprotocol.registry/publisher-provided': { 'io.github.stacklok': { [key]: value } },
  })),
)

export const serverJson = some<ServerJson>(
  {
    $schema: url,
    name: fullName,
    title: text,
    description: text,
    version: text,
    websiteUrl: url,
    icons: fc.array(
      some({ src: url, mimeType: text, sizes: words, theme: fc.constantFrom('light', 'dark') }, ['src']),
      { maxLength: 2 },
    ),
    repository: some({ url, source: text, id: text, subfolder: text }, ['url', 'source']),
    packages: fc.array(onePackage, { maxLength: 3 }),
    remotes: fc.array(remote, { maxLength: 2 }),
    _meta: meta,
  } as never,
  ['name', 'description', 'version'],
)

export const skill = some<SkillEntry>(
  {
    namespace: fc.stringMatching(/^[a-z]{3,8}\.[a-z]{2,8}$/),
    name: short,
    description: text,
    version: text,
    status: fc.constantFrom('active', 'deprecated', 'archived'),
    title: text,
    license: text,
    compatibility: text,
    allowedTools: words,
    repository: some({ url, type: text }),
    icons: fc.array(some({ src: url, size: text, type: text, label: text }), { maxLength: 2 }),
    packages: fc.array(
      some(
        {
          registryType: fc.constantFrom('oci', 'git'),
          identifier: text,
          digest: text,
          mediaType: text,
          url,
          ref: text,
          commit: text,
          subfolder: text,
        },
        ['registryType'],
      ),
      { maxLength: 2 },
    ),
    metadata: anyMap,
    _meta: anyMap,
  } as never,
  ['namespace', 'name', 'description', 'version'],
)
