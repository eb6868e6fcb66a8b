import type { RunConfig } from '../../src/contracts/run-config.ts'

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`
export const KEELSON = `registry.example.com/keelson@${DIGEST}`

/** A value that must be in no manifest: only a run config with the secret itself could hold it. */
const base = {
  schema_version: 'v0.1.0',
  port: 30001,
  host: '127.0.0.1',
  group: 'default',
  runtime: 'docker',
} as const
const server = {
  ...base,
  image: `ghcr.io/example/notes@${DIGEST}`,
  transport: 'streamable-http',
  target_port: 3000,
  isolate_network: true,
} as const
const remote = { ...base, remote_url: 'https://mcp.example.com/mcp', transport: 'streamable-http' } as const
const outbound = (value: object) => ({ permission_profile: { network: { outbound: value } } })

/** What run configs have beside their server. */
const VARIATIONS: Readonly<Record<string, Partial<RunConfig>>> = {
  plain: {},
  stateless: { stateless: true },
  modern: { protocol: 'stateless' },
  login: { oidc_config: { issuer: 'https://login.example.com:8443', audience: 'notes', scopes: ['openid'] } },
  policies: {
    authz_config: {
      version: '1.0',
      type: 'cedarv1',
      cedar: { policies: ['permit(principal, action, resource);'] },
    },
  },
  audit: { audit_config: { enabled: true, includeRequestData: true } },
  limits: { rate_limit_config: { shared: { maxTokens: 5, refillPeriod: '1m0s' } } },
  tools: { tools_filter: ['read', 'yes', '1:30'] },
  renamed: { tools_override: { read: { name: 'lees', description: 'a: b # c' } } },
  origins: { allowed_origins: ['https://app.example.com'], session_ttl: '30m', max_body_bytes: 1_000_000 },
  prefix: { endpoint_prefix: '/notes', trust_proxy_headers: true },
  unicode: { tools_override: { '\u2028': { description: '\u0085\ufeff{{ .Values.x }}' } } },
}
const OF_SERVERS: Readonly<Record<string, Partial<RunConfig>>> = {
  args: { cmd_args: ['--flag', '$(HOME)', '- - -\nkind: Pod', '---', 'on'] },
  variables: { env_vars: { ZONE: 'yes', LEVEL: '1:30', LINES: 'a\nb\n', DOLLAR: '$(PATH)' } },
  secrets: { secrets: ['a token,target=TOKEN', 'db,target=DB_PASSWORD'] },
  limited: { resources: { memory: '512m', cpus: '0.25' } },
  nothing: outbound({}),
  anywhere: outbound({ insecure_allow_all: true }),
  hosts: outbound({ allow_host: ['api.example.com'] }),
  ports: outbound({ allow_host: ['.example.com'], allow_port: [443, 80] }),
  'no-network': { permission_profile: { network: { mode: 'none' } } },
  open: { isolate_network: false },
  sse: { transport: 'sse' },
}
const OF_REMOTES: Readonly<Record<string, Partial<RunConfig>>> = {
  headers: {
    header_forward: {
      add_plaintext_headers: { 'X-Tenant': 'acme' },
      add_headers_from_secret: { 'X-Api-Key': 'KEY' },
    },
  },
  port: { remote_url: 'https://mcp.example.com:9443/v1/mcp' },
  public: { remote_must_be_public: true },
  sse: { remote_url: 'https://mcp.example.com/sse', transport: 'sse' },
}
const NAMES = [
  'Notes_And.More',
  '9lives',
  '--x--',
  'a',
  'x'.repeat(120),
  'true',
  'null',
  'a\n---\nkind: Pod',
  'ü-é-9',
]

/** Run configs of HTTP servers in images and of remote servers, with what each flag of `run` writes into them. */
export const CORPUS: readonly RunConfig[] = [
  ...Object.entries({ ...VARIATIONS, ...OF_SERVERS }).map(([name, more]) => ({
    ...server,
    ...more,
    name: `s-${name}`,
  })),
  ...Object.entries({ ...VARIATIONS, ...OF_REMOTES }).map(([name, more]) => ({
    ...remote,
    ...more,
    name: `r-${name}`,
  })),
  ...NAMES.flatMap(name => [
    { ...server, ...OF_SERVERS.secrets, name },
    { ...remote, ...OF_REMOTES.headers, name },
  ]),
  ...Object.entries(OF_SERVERS).map(([name, more]) => ({
    ...server,
    stateless: true,
    ...more,
    name: `stateless-${name}`,
  })),
] as RunConfig[]

/** The ways in which each is exported. */
export const WAYS = [
  { keelsonImage: KEELSON, writable: [] },
  { keelsonImage: KEELSON, writable: ['/data'], publicHost: 'mcp.example.com' },
  { keelsonImage: KEELSON, writable: [], publicHost: 'mcp.example.com', gateway: 'public' },
]
