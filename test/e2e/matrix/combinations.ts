/** The rows and columns of the matrix of eras (docs/eras-matrix.md): data only. */

export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
export type Revision = (typeof REVISIONS)[number]

export const STATELESS: Revision = '2026-07-28'

/** Which of the HTTP transports a client speaks; `either` is what the workload speaks, as the specification lets clients try. */
type Over = 'sse' | 'streamable-http' | 'either'

/** What clients are made with. */
export type Sdk = 'TypeScript 1' | 'TypeScript 2' | 'Python 1' | 'Python 2' | 'Go'

export interface ClientKind {
  readonly name: string
  readonly revision: Revision
  readonly over: Over
  readonly sdk: Sdk
  /** What cannot be tried with the SDK. */
  readonly untried?: readonly FeatureName[]
}

// The newest with a session first: a stdio server that is shared hears of the abilities of its first client.
export const CLIENTS: readonly ClientKind[] = [
  { name: '2025-11-25', revision: '2025-11-25', over: 'either', sdk: 'TypeScript 1' },
  { name: '2025-11-25 (TypeScript 2)', revision: '2025-11-25', over: 'either', sdk: 'TypeScript 2' },
  {
    ...{ name: '2025-11-25 (Python 1)', revision: '2025-11-25', over: 'either', sdk: 'Python 1' },
    // The SDK cannot cancel a call, and its connections cannot be cut from outside.
    untried: ['cancellation', 'resume'],
  },
  {
    ...{ name: '2025-11-25 (Go)', revision: '2025-11-25', over: 'either', sdk: 'Go' },
    // Its connections cannot be cut from outside.
    untried: ['resume'],
  },
  { name: '2025-06-18', revision: '2025-06-18', over: 'either', sdk: 'TypeScript 1' },
  { name: '2025-03-26', revision: '2025-03-26', over: 'either', sdk: 'TypeScript 1' },
  { name: '2024-11-05', revision: '2024-11-05', over: 'either', sdk: 'TypeScript 1' },
  { name: '2024-11-05 (HTTP+SSE only)', revision: '2024-11-05', over: 'sse', sdk: 'TypeScript 1' },
  { name: '2026-07-28', revision: '2026-07-28', over: 'streamable-http', sdk: 'TypeScript 2' },
  { name: '2026-07-28 (Python 2)', revision: '2026-07-28', over: 'streamable-http', sdk: 'Python 2' },
  { name: '2026-07-28 (Go)', revision: '2026-07-28', over: 'streamable-http', sdk: 'Go' },
]

export interface ServerKind {
  readonly revision: Revision
  readonly transport: Transport
  /** What it is made with; the SDKs for TypeScript if it does not say. */
  readonly sdk?: 'Python 1' | 'Python 2' | 'Go'
  /** What the server cannot take part in. */
  readonly untried?: readonly FeatureName[]
}

export const serverName = ({ revision, sdk }: ServerKind): string => (sdk ? `${revision} (${sdk})` : revision)

export const TRANSPORTS = {
  stdio: 'stdio',
  'stdio-sse': 'stdio with `--proxy-mode sse`',
  sse: 'HTTP+SSE',
  'streamable-http': 'streamable HTTP',
} as const
export type Transport = keyof typeof TRANSPORTS

const KEEPS_NO_EVENTS = ['resume'] as const

/** 2026-07-28 has no HTTP+SSE. */
export const SERVERS: readonly ServerKind[] = [
  ...REVISIONS.flatMap(revision =>
    (Object.keys(TRANSPORTS) as Transport[])
      .filter(transport => !(revision === STATELESS && transport === 'sse'))
      .map(transport => ({ revision, transport })),
  ),
  { revision: '2025-11-25', transport: 'stdio', sdk: 'Python 1' },
  { revision: '2025-11-25', transport: 'streamable-http', sdk: 'Python 1', untried: KEEPS_NO_EVENTS },
  ...(['2025-11-25', STATELESS] as const).flatMap(revision =>
    (['stdio', 'streamable-http'] as const).map(transport => ({ revision, transport, sdk: 'Go' as const })),
  ),
  // It speaks the older revisions too.
  { revision: STATELESS, transport: 'stdio', sdk: 'Python 2' },
  { revision: STATELESS, transport: 'streamable-http', sdk: 'Python 2', untried: KEEPS_NO_EVENTS },
]

/** The transport on which clients reach a server. */
export const reachedOver = ({ transport }: ServerKind): 'sse' | 'streamable-http' =>
  transport === 'sse' || transport === 'stdio-sse' ? 'sse' : 'streamable-http'

interface Feature {
  /** The first revision that has it. */
  readonly since?: Revision
  /** The revision that removed it. */
  readonly removed?: Revision
  /** A matter between the client and keelson: the revision of the server does not count. */
  readonly ofClient?: true
  readonly over?: 'streamable-http'
}

export const FEATURES = {
  tools: {},
  progress: {},
  sampling: {},
  'elicitation, form': { since: '2025-06-18' },
  'elicitation, URL': { since: '2025-11-25' },
  roots: {},
  logging: {},
  subscriptions: {},
  'list-changed': {},
  completion: {},
  pagination: {},
  errors: {},
  resume: { since: '2025-03-26', removed: '2026-07-28', ofClient: true, over: 'streamable-http' },
  cancellation: {},
} as const satisfies Record<string, Feature>
export type FeatureName = keyof typeof FEATURES

export const FEATURE_NAMES = Object.keys(FEATURES) as FeatureName[]

/** Whether the revisions of both sides have the feature. */
export function exists(name: FeatureName, client: ClientKind, server: ServerKind): boolean {
  const { since, removed, ofClient, over }: Feature = FEATURES[name]
  const has = ({ revision }: { revision: Revision }) =>
    (!since || revision >= since) && (!removed || revision < removed)
  if (over && (client.over === 'sse' || (client.over === 'either' && reachedOver(server) !== over)))
    return false
  return has(client) && (ofClient === true || has(server))
}
