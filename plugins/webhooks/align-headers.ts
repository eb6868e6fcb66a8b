import type { Exchange } from '../../src/contracts/pipeline.ts'
import { NAMED_BY, toFieldValue } from '../../src/net/mcp-name.ts'
import { param } from '../../src/net/rpc-message.ts'
import type { JudgedMessage } from './judged-message.ts'

/**
 * Makes the headers of a message (MCP 2026-07-28) say what its body says, which is what webhooks have seen: a server
 * may go by them. Which arguments `Mcp-Param-…` repeat is not known here, so they do not go along with a message that
 * was changed.
 */
export function alignHeaders(
  exchange: Exchange,
  message: JudgedMessage,
  { isChanged }: { isChanged: boolean },
): void {
  const { headers } = exchange.request
  if (headers['mcp-method'] !== undefined) exchange.setHeader('mcp-method', toFieldValue(message.method))
  for (const name of isChanged ? Object.keys(headers) : []) {
    if (name.startsWith('mcp-param-')) exchange.setHeader(name, undefined)
  }
  if (headers['mcp-name'] === undefined) return
  const name = param(message, NAMED_BY.get(message.method) ?? 'name')
  exchange.setHeader('mcp-name', typeof name === 'string' ? toFieldValue(name) : undefined)
}
