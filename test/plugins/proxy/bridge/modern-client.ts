import { createPuppet } from './puppet-server.ts'
import { call, rpc, stream } from './raw-client.ts'
import { startBridge } from './start-bridge.ts'

const VERSION = '2026-07-28'

/** The parameters of a client of 2026-07-28. */
export const modernParams = (
  params: Record<string, unknown> = {},
  { capabilities = {}, version = VERSION, name = 'test', meta = {} }: ModernFacts = {},
) => ({
  ...params,
  _meta: {
    ...meta,
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name, version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  },
})

export interface ModernFacts {
  capabilities?: Record<string, unknown>
  version?: string
  name?: string
  meta?: Record<string, unknown>
  /** Who calls, where the bridge has callers. */
  caller?: string
}

/** The headers that repeat a request of such a client. */
export const modernHeaders = (
  method: string,
  params: Record<string, unknown> = {},
  { caller, version = VERSION }: ModernFacts = {},
): Record<string, string> => ({
  ...(caller === undefined ? {} : { caller }),
  'mcp-protocol-version': version,
  'mcp-method': method,
  ...(typeof (params.name ?? params.uri) === 'string'
    ? { 'mcp-name': String(params.name ?? params.uri) }
    : {}),
})

/** A bridge before a puppet of the era of sessions, and requests of clients of 2026-07-28. */
export async function startLegacy(
  options: Parameters<typeof startBridge>[0] & {
    initialize?: Record<string, unknown>
    /** Where clients send their requests. */
    path?: string
  } = {},
) {
  const { initialize = {}, path = '/mcp', ...others } = options
  const server = createPuppet({ initialize })
  const started = await startBridge({ attachment: server.attachment, ...others })
  void server.take('ping').then(({ message: { id } }) => server.send({ jsonrpc: '2.0', id, result: {} }))
  const ask = (id: unknown, method: string, params: Record<string, unknown> = {}, facts: ModernFacts = {}) =>
    call(
      `${started.origin}${path}`,
      rpc(id, method, modernParams(params, facts)),
      modernHeaders(method, params, facts),
    )
  const open = (id: unknown, method: string, params: Record<string, unknown> = {}, facts: ModernFacts = {}) =>
    stream(started.url, {
      body: rpc(id, method, modernParams(params, facts)),
      headers: modernHeaders(method, params, facts),
    })
  /** Responds to the next request of this method. */
  const answer = async (method: string, result: unknown) => {
    const { message } = await server.take(method)
    server.send({ jsonrpc: '2.0', id: message.id, result })
    return message
  }
  return { server, ...started, ask, open, answer }
}
