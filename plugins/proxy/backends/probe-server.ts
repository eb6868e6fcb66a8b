import type { Dispatcher } from 'undici'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { messageOf } from '../../../src/errors.ts'
import { isMessage } from '../../../src/net/json-rpc.ts'
import { isEventStream } from '../../../src/net/sse.ts'
import { revision20251125, revision20260728 } from '../revisions/index.ts'
import { effectiveMode, isSaidStateless } from '../section.ts'
import type { TargetPath } from './target-path.ts'

const PROBE_TIMEOUT_MS = 10_000
const MAX_PROBE_BYTES = 1024 * 1024

/**
 * Probes once whether a server speaks MCP. Returns undefined when it does, else what it did instead.
 *
 * @param options.onRefused called when the server requires credentials (401, 403)
 */
export async function probe(options: {
  agent: Dispatcher
  config: RunConfig
  target: TargetPath
  onRefused: () => void
  signal: AbortSignal
}): Promise<string | undefined> {
  const { agent, config, target, onRefused, signal } = options
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])
  try {
    const found =
      effectiveMode(config) === 'sse'
        ? await probeSse(agent, target, limit)
        : await probeStreamable(agent, config, target, limit)
    if (found !== REFUSED) return found
    onRefused()
    return undefined
  } catch (error) {
    if (signal.aborted) throw signal.reason
    return describe(error)
  }
}

/** The server requires credentials, and so responds. */
const REFUSED = Symbol('refused')
const isRefusal = (status: number): boolean => status === 401 || status === 403

async function probeSse(agent: Dispatcher, target: TargetPath, signal: AbortSignal) {
  const path = target.pathFor('/sse')
  const { statusCode, headers, body } = await agent.request({
    origin: target.origin,
    path,
    method: 'GET',
    headers: { accept: 'text/event-stream' },
    signal,
    bodyTimeout: PROBE_TIMEOUT_MS,
  })
  body.on('error', () => {}).destroy()
  if (isRefusal(statusCode)) return REFUSED
  const isStream = isEventStream(headers['content-type'])
  return statusCode === 200 && isStream ? undefined : `GET ${pathOf(path)} returned status ${statusCode}`
}

/**
 * Every JSON-RPC response shows that the server speaks MCP, also an error, as of a server of another revision
 * or one that requires credentials. The session that a probe opened is closed again.
 */
async function probeStreamable(
  agent: Dispatcher,
  config: RunConfig,
  target: TargetPath,
  signal: AbortSignal,
) {
  const path = target.pathFor('/mcp')
  const isStateless = isSaidStateless(config)
  const revision = isStateless ? revision20260728 : revision20251125
  const request = { origin: target.origin, path, signal, bodyTimeout: PROBE_TIMEOUT_MS }
  const answer = await agent.request({
    ...request,
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(isStateless ? { 'mcp-protocol-version': revision.version, 'mcp-method': 'server/discover' } : {}),
    },
    body: revision.probe,
  })
  const { statusCode: status } = answer
  const session = answer.headers['mcp-session-id']
  if (status === 200 || isRefusal(status)) {
    await answer.body.dump({ limit: MAX_PROBE_BYTES }).catch(() => {})
    if (typeof session === 'string') await closeSession(agent, request, session)
    return isRefusal(status) ? REFUSED : undefined
  }
  const speaks = status < 500 && isJsonRpc(await readSome(answer.body))
  return speaks ? undefined : `POST ${pathOf(path)} returned status ${status}`
}

async function closeSession(
  agent: Dispatcher,
  request: { origin: string; path: string; signal: AbortSignal },
  session: string,
): Promise<void> {
  try {
    const answer = await agent.request({
      ...request,
      method: 'DELETE',
      headers: { 'mcp-session-id': session, 'mcp-protocol-version': revision20251125.version },
    })
    await answer.body.dump()
  } catch {
    // The server responds. A session that it does not end is no reason to fail.
  }
}

async function readSome(body: Dispatcher.ResponseData['body']): Promise<string> {
  let text = ''
  for await (const chunk of body) {
    text += chunk
    if (text.length > MAX_PROBE_BYTES) break
  }
  return text
}

function isJsonRpc(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    // Errors about an unreadable request have `id: null` (JSON-RPC 2.0 section 5).
    return isMessage(value)
  } catch {
    return false
  }
}

const pathOf = (path: string): string => path.split('?', 1)[0] as string

/** Why a server does not respond, for people. */
export function describe(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ECONNREFUSED') return 'it does not accept connections'
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return 'it accepted a request but did not respond'
  return messageOf(error)
}
