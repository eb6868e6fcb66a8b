import { createPuppet } from './puppet-server.ts'
import { open } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

/** A bridge before a puppet that speaks 2026-07-28 only, and clients with a session that join it. */
export async function startStateless(
  options: Parameters<typeof startBridge>[0] = {},
  capabilities: Record<string, unknown> = { tools: {} },
) {
  const server = createPuppet({ initialize: false })
  const started = await startBridge({ attachment: server.attachment, ...options })
  const fail = (id: unknown, code: number) =>
    server.send({ jsonrpc: '2.0', id, error: { code, message: 'no' } })
  const respond = (id: unknown, result: unknown) => server.send({ jsonrpc: '2.0', id, result })
  const ready = started.bridge.ready({ timeoutMs: 10_000, signal: new AbortController().signal, ping: true })
  fail((await server.take('ping')).message.id, -32022)
  await ready
  let isFirst = true
  /** A client that the server is not told of before its first request. */
  async function join(stated: Record<string, unknown> = {}, version?: string) {
    const opened = open(started.url, stated, version)
    opened.catch(() => undefined)
    // Whether it has `initialize` too is not known before the first client.
    if (isFirst) fail((await server.take('initialize')).message.id, -32022)
    isFirst = false
    respond((await server.take('server/discover')).message.id, {
      supportedVersions: ['2026-07-28'],
      capabilities,
    })
    return opened
  }
  /** Asks for input as the response to a request. */
  const ask = (id: unknown, inputRequests?: unknown, requestState?: string) =>
    respond(id, { resultType: 'input_required', inputRequests, requestState })
  return { server, ...started, fail, respond, join, ask }
}
