import type { IncomingMessage } from 'node:http'
import { CALLER_TOKEN_HEADER } from '../../src/http/caller-token-header.ts'

/** For one connection only (RFC 9110, section 7.6.1), or set by the proxy itself. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]
const FORWARDED = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
]
const SOMETIMES = ['mcp-session-id', 'accept-encoding', 'last-event-id']

type HeaderRule = 'drop' | 'forwarded' | 'sometimes'
/** One look-up per header: most headers are in no list and pass. */
const HEADER_RULES = new Map<string, HeaderRule>([
  ...[...HOP_BY_HOP, 'host', 'content-length', 'expect', CALLER_TOKEN_HEADER].map(
    name => [name, 'drop'] as const,
  ),
  ...FORWARDED.map(name => [name, 'forwarded'] as const),
  ...SOMETIMES.map(name => [name, 'sometimes'] as const),
])
/** Whether the proxy itself decides on a header of requests. The name is in lower case. */
export const isProxyHeader = (name: string): boolean => HEADER_RULES.has(name)

const NEVER_BACK = new Set(HOP_BY_HOP)

/** Header names that a `Connection` header declares to be hop-by-hop; undefined in the usual case of none. */
function namedByConnection(connection: string | undefined): Set<string> | undefined {
  if (connection === undefined || /^(keep-alive|close)$/i.test(connection)) return undefined
  return new Set(connection.split(',').map(name => name.trim().toLowerCase()))
}

export interface ForwardRules {
  /** `host[:port]` of the server. */
  readonly targetHost: string
  readonly targetScheme: 'http' | 'https'
  readonly remote: boolean
  readonly trust: boolean
  /** Leaves out `Accept-Encoding`: the response has to be read. */
  readonly identity: boolean
  /** Leaves out `Last-Event-ID`: the server does not know that event. */
  readonly forgetEvents: boolean
  /** Sent instead of the client's headers of these names, which are in lower case; undefined: left out. */
  readonly own?: ReadonlyMap<string, string | undefined> | undefined
  /** What `Mcp-Session-Id` says to the server; undefined: as the client says; null: leaves it out. */
  readonly session: string | null | undefined
}

/**
 * The headers of a request as the server gets them, as undici takes them: names and values in turn.
 *
 * A remote server learns nothing of our host name, and the scheme it sees is its own.
 */
export function requestHeaders(request: IncomingMessage, rules: ForwardRules): string[] {
  const raw = request.rawHeaders
  const named = namedByConnection(request.headers.connection)
  const out: string[] = ['host', rules.targetHost]
  let via: string | undefined
  let sawHost = false
  let sawProto = false
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    const value = raw[i + 1] as string
    const key = name.toLowerCase()
    const rule = HEADER_RULES.get(key)
    if (rule === 'drop' || named?.has(key) || rules.own?.has(key)) continue
    if (rule === 'sometimes' && isLeftOut(key, rules)) continue
    if (rule === 'forwarded') {
      if (!rules.trust || rules.remote) continue
      if (key === 'x-forwarded-for') {
        via = via === undefined ? value : `${via}, ${value}`
        continue
      }
      sawHost ||= key === 'x-forwarded-host'
      sawProto ||= key === 'x-forwarded-proto'
    }
    out.push(name, value)
  }
  if (typeof rules.session === 'string') out.push('mcp-session-id', rules.session)
  for (const [name, value] of rules.own ?? []) if (value !== undefined) out.push(name, value)
  const peer = request.socket.remoteAddress ?? 'unknown'
  out.push('x-forwarded-for', via === undefined ? peer : `${via}, ${peer}`)
  if (!rules.remote && !sawHost && request.headers.host !== undefined) {
    out.push('x-forwarded-host', request.headers.host)
  }
  if (!sawProto) out.push('x-forwarded-proto', rules.remote ? rules.targetScheme : 'http')
  return out
}

function isLeftOut(key: string, rules: ForwardRules): boolean {
  if (key === 'mcp-session-id') return rules.session !== undefined
  return key === 'accept-encoding' ? rules.identity : rules.forgetEvents
}

/** The headers of a response as the client gets them; `replace` holds new values by lower-case name. */
export function responseHeaders(
  raw: readonly (Buffer | string)[],
  connection: string | undefined,
  replace?: Readonly<Record<string, string>>,
): string[] {
  const named = namedByConnection(connection)
  const out: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = toText(raw[i])
    const key = name.toLowerCase()
    if (NEVER_BACK.has(key) || named?.has(key)) continue
    out.push(name, replace?.[key] ?? toText(raw[i + 1]))
  }
  return out
}

// Header bytes above 127 have no agreed meaning; latin1 carries them through unchanged.
const toText = (value: Buffer | string | undefined): string =>
  typeof value === 'string' ? value : (value?.toString('latin1') ?? '')
