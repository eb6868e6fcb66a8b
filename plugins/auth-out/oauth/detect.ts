import { FetchProblem } from '../../../src/net/fetch-problem.ts'
import { type GuardedRequest, guardedFetch } from '../../../src/net/guarded-fetch.ts'
import { readChallenge, schemesOf } from './challenge.ts'
import { getDocument, RESPONSE_MS } from './get-document.ts'
import type { Detection, Reach } from './types.ts'

const ABOUT = { name: 'keelson', version: '1' }
const JSON_OR_STREAM = 'application/json, text/event-stream'

type Probe = Pick<GuardedRequest, 'headers' | 'body'>

/** How a session of 2025-11-25 and older revisions begins: with the stream of HTTP+SSE, or with `initialize`. */
const LEGACY: readonly Probe[] = [
  { headers: { accept: 'text/event-stream' } },
  {
    headers: { 'content-type': 'application/json', accept: JSON_OR_STREAM },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 'keelson-login',
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: ABOUT },
    }),
  },
]

/** A request of 2026-07-28, which has no sessions. */
const STATELESS: readonly Probe[] = [
  {
    headers: {
      'content-type': 'application/json',
      accept: JSON_OR_STREAM,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 'keelson-login',
      method: 'server/discover',
      params: {
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': ABOUT,
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  },
]

const PROBES = { legacy: LEGACY, stateless: STATELESS, auto: [...LEGACY, ...STATELESS] }

/**
 * Sends probes until a response requires a login or serves the request: a GET, then a POST in each era of MCP, or only
 * those of the era that the user has set. A refusal without a challenge counts if the target has resource metadata. All
 * of this takes ten seconds at most. A session that a probe opened is closed again.
 */
export async function detect(reach: Reach): Promise<Detection> {
  const timeout = AbortSignal.timeout(reach.timeoutMs ?? RESPONSE_MS)
  const signal = reach.signal ? AbortSignal.any([timeout, reach.signal]) : timeout
  let isRefused = false
  let schemes: readonly string[] = []
  let problem: string | undefined
  let responses = 0
  for (const probe of PROBES[reach.protocol ?? 'auto']) {
    try {
      const response = await ask(probe, { ...reach, signal })
      responses++
      const header = response.joined('www-authenticate')
      const challenge = readChallenge(response.status, header)
      if (challenge) {
        return { kind: 'login', challenge: { ...challenge, isPrivate: response.isPrivate } }
      }
      if (response.status === 401) schemes = schemesOf(header)
      isRefused ||= response.status === 403
      const isServed = probe.body !== undefined && response.status >= 200 && response.status < 300
      if (isServed) await closeSession(response.header('mcp-session-id'), reach)
      if (isServed) return { kind: 'none' }
    } catch (error) {
      reach.signal?.throwIfAborted()
      problem ??= error instanceof FetchProblem ? error.message : 'it does not respond in time'
      if (!(error instanceof FetchProblem) && !timeout.aborted) throw error
    }
  }
  if (schemes.length) return { kind: 'other', schemes }
  if (isRefused) return withoutChallenge(reach)
  return responses || problem === undefined ? { kind: 'none' } : { kind: 'unreachable', problem }
}

const ask = (probe: Probe, { target, mustBePublic, ca, signal }: Reach) =>
  guardedFetch(target, {
    method: probe.body === undefined ? 'GET' : 'POST',
    ...probe,
    ...allowed(mustBePublic),
    sameOrigin: true,
    maxRedirects: 3,
    headersOnly: true,
    ca,
    signal,
  })

/** The target may be private where the user named it, and http as it is written. */
const allowed = (mustBePublic = false) => ({ allowPrivate: !mustBePublic, allowHttp: true })

async function closeSession(
  session: string | undefined,
  { target, mustBePublic, ca, signal }: Reach,
): Promise<void> {
  if (session === undefined) return
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }
  const options = {
    method: 'DELETE',
    headers,
    ...allowed(mustBePublic),
    headersOnly: true,
    ca,
    signal,
  } as const
  // Servers may refuse to end sessions.
  await guardedFetch(target, { ...options, timeoutMs: 2000, maxRedirects: 0 }).catch(() => undefined)
}

/** A 403 may have any reason; metadata at the well-known places shows that a login is one. */
async function withoutChallenge(reach: Reach): Promise<Detection> {
  const { origin, pathname } = new URL(reach.target)
  const path = pathname.replace(/\/+$/, '')
  for (const place of new Set([path, ''])) {
    const url = `${origin}/.well-known/oauth-protected-resource${place}`
    const found = await getDocument(url, { mayBePrivate: false, isNamed: !reach.mustBePublic }, reach)
    if ('value' in found && typeof found.value.resource === 'string') {
      return { kind: 'login', challenge: { status: 403, isPrivate: found.isPrivate } }
    }
  }
  return { kind: 'none' }
}
