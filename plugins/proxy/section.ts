import { PROTOCOL_OPTIONS, type RunConfig } from '../../src/contracts/run-config.ts'
import { failures } from '../../src/errors.ts'
import { sectionRequest } from '../../src/http/section-request.ts'
import { parseDuration } from '../../src/lib/duration.ts'
import { bool, integer, type ObjectOf, oneOf, optional, text, texts } from '../../src/lib/schema.ts'
import type { Section } from '../../src/plugin.ts'
import type { ProcessLimits } from './bridge/processes/process-limits.ts'
import { DEFAULT_MAX_PROCESSES, DEFAULT_MAX_PROCESSES_PER_CALLER, SESSION_MODES } from './session-modes.ts'

export const DEFAULT_SESSION_TTL_MS = 2 * 3_600_000
const DEFAULT_BODY_BYTES = 8 * 2 ** 20
/** A body is held in memory up to three times while it is checked and passed on. */
const MOST_BODY_BYTES = 64 * 2 ** 20
const LEAST_BODY_BYTES = 2 ** 10

const members = {
  /** Exact-match list for the `Origin` header; absent on loopback: the proxy's own origins. */
  allowed_origins: optional(texts),
  /** Path put before the endpoint that an SSE server announces. */
  endpoint_prefix: optional(text),
  /** The most bytes of a request body; absent, zero or less: 8 MiB, as in the entry `bodylimit` of ToolHive. */
  max_body_bytes: optional(integer),
  /** Which era of MCP the server speaks, where that is not to be found out. */
  protocol: optional(oneOf(PROTOCOL_OPTIONS)),
  /** Requests to the remote server keep their paths; else its own path stands for whatever was asked. */
  remote_keeps_paths: optional(bool),
  /** Whether the clients of a stdio server share one process; absent: `shared`. */
  sessions: optional(oneOf(SESSION_MODES)),
  /** The most processes that serve single clients; absent: 16. */
  max_processes: optional(integer),
  /** The same of one caller who has logged in; absent: 8. */
  max_processes_per_caller: optional(integer),
  /** Processes that are started ahead for the next client: 0 or 1; absent: 0. */
  spare_processes: optional(integer),
  /** How long an idle session lives, as a Go duration; absent or zero: two hours. */
  session_ttl: optional(text),
  /** A stranger named the remote server, so its name may never resolve to a private address. */
  remote_must_be_public: optional(bool),
  /** PEM file of certificates that are trusted besides those of the system: at the remote server and at identity providers. */
  svc_ca_bundle: optional(text),
  /** The server keeps no sessions: POST only. */
  stateless: optional(bool),
  /** Believe `X-Forwarded-*` of whoever connects. */
  trust_proxy_headers: optional(bool),
}

declare module '../../src/contracts/run-config.ts' {
  interface RunConfig extends ObjectOf<typeof members> {}
}

export { effectiveMode } from '../../src/client-url.ts'

/** The era of MCP that the user has said the server speaks; undefined: it is found out. */
export const saidProtocol = ({
  protocol,
}: Pick<RunConfig, 'protocol'>): 'legacy' | 'stateless' | undefined =>
  protocol === 'auto' ? undefined : protocol

/** Whether the user has said that the server has no `initialize`, or keeps no sessions. */
export const isSaidStateless = (config: Pick<RunConfig, 'protocol' | 'stateless'>): boolean =>
  config.stateless === true || config.protocol === 'stateless'

/** The session lifetime in milliseconds. */
export const sessionTtlOf = (config: RunConfig): number =>
  parseDuration(config.session_ttl ?? '') || DEFAULT_SESSION_TTL_MS

/** The most bytes that a request body may have. */
export const maxBodyOf = ({ max_body_bytes: most = 0 }: Pick<RunConfig, 'max_body_bytes'>): number =>
  most > 0 ? most : DEFAULT_BODY_BYTES

/** How many processes clients of a stdio server may have. */
export const processLimitsOf = (config: RunConfig): ProcessLimits => ({
  max: config.max_processes ?? DEFAULT_MAX_PROCESSES,
  maxPerCaller: config.max_processes_per_caller ?? DEFAULT_MAX_PROCESSES_PER_CALLER,
  spares: config.spare_processes ?? 0,
})

const wrong = (text: string) => failures.usage({ text })

const { svc_ca_bundle: _, ...body } = members // a path of this machine: requests over HTTP cannot name one

const request = sectionRequest({
  body,
  details: { trust_proxy_headers: bool },
  toOptions: body => ({
    'allowed-origins': body.allowed_origins,
    'endpoint-prefix': body.endpoint_prefix,
    'max-body-size': body.max_body_bytes ? String(body.max_body_bytes) : undefined,
    protocol: body.protocol,
    'session-ttl': readDuration(body.session_ttl),
    sessions: body.sessions,
    'max-processes': body.max_processes,
    'max-processes-per-caller': body.max_processes_per_caller,
    'spare-processes': body.spare_processes,
    stateless: body.stateless || undefined,
    'trust-proxy-headers': body.trust_proxy_headers || undefined,
  }),
  toMembers: body => (body.remote_must_be_public ? { remote_must_be_public: true } : {}),
  toDetails: ({ trust_proxy_headers = false }) => ({ trust_proxy_headers }),
  kept: [
    'allowed_origins',
    'endpoint_prefix',
    'max_body_bytes',
    'protocol',
    'session_ttl',
    'sessions',
    'max_processes',
    'max_processes_per_caller',
    'spare_processes',
    'stateless',
  ],
  keptAlways: ['svc_ca_bundle'],
  keptWithTarget: ['remote_must_be_public'],
})

function readDuration(text: string | undefined): number | undefined {
  const ms = parseDuration(text || '0')
  if (ms === undefined) throw wrong(`session_ttl takes a duration such as 30m or 2h, not "${text}".`)
  return ms
}

/** Checks the members this plugin owns, whether they came from flags or from a file. */
export const proxySection: Section = {
  members,
  request,
  middlewareEntries: [{ type: 'bodylimit', parameter: 'max_bytes', member: 'max_body_bytes' }],
  check(config) {
    const { allowed_origins = [], endpoint_prefix, protocol, session_ttl, stateless, transport } = config
    for (const origin of allowed_origins) {
      if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+/i.test(origin)) {
        throw wrong(`--allowed-origins takes origins such as https://app.example, not "${origin}".`)
      }
    }
    if (endpoint_prefix && !/^\/[^\s?#]*$/.test(endpoint_prefix)) {
      throw wrong(`--endpoint-prefix takes a path that starts with "/", not "${endpoint_prefix}".`)
    }
    const most = maxBodyOf(config)
    if (most < LEAST_BODY_BYTES || most > MOST_BODY_BYTES) {
      throw wrong(`--max-body-size takes a size from 1k to 64m, not ${most} bytes.`)
    }
    if (session_ttl && parseDuration(session_ttl) === undefined) {
      throw wrong(`--session-ttl takes a duration such as 30m or 2h, not "${session_ttl}".`)
    }
    checkSessions(config)
    if (protocol === 'stateless' && transport === 'sse') {
      throw wrong('--protocol stateless: MCP 2026-07-28 has no transport sse.')
    }
    if (stateless && transport !== 'streamable-http') {
      throw wrong(`--stateless needs --transport streamable-http; this workload speaks ${transport}.`)
    }
  },
}

function checkSessions(config: RunConfig): void {
  const { sessions = 'shared', transport, spare_processes = 0 } = config
  if (sessions !== 'shared' && transport !== 'stdio') {
    throw wrong(`--sessions ${sessions} needs --transport stdio; this workload speaks ${transport}.`)
  }
  for (const name of ['max_processes', 'max_processes_per_caller', 'spare_processes'] as const) {
    if (config[name] === undefined) continue
    const flag = `--${name.replaceAll('_', '-')}`
    if (sessions === 'shared') throw wrong(`${flag} needs --sessions per-client or auto.`)
    if (name !== 'spare_processes' && config[name] < 1) throw wrong(`${flag} takes a number from 1 on.`)
  }
  if (spare_processes !== 0 && spare_processes !== 1) throw wrong('--spare-processes takes 0 or 1.')
}
