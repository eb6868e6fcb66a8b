import { isObject } from '../lib/is-object.ts'
import type { JsonRpcMessage } from './json-rpc.ts'

/** Who a client says that it is (`Implementation` of MCP). */
export interface ClientInfo {
  readonly name?: string
  readonly version?: string
}

/** What the message says of its client: `initialize`, or each request since 2026-07-28. */
export function clientOf(message: JsonRpcMessage | undefined): ClientInfo | undefined {
  if (!message || !('method' in message) || !isObject(message.params)) return undefined
  const meta = message.params._meta
  const info =
    message.method === 'initialize'
      ? message.params.clientInfo
      : isObject(meta) && meta['io.modelcontextprotocol/clientInfo']
  if (!isObject(info)) return undefined
  const { name, version } = info
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof version === 'string' ? { version } : {}),
  }
}
