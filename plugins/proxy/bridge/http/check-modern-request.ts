import type { Exchange } from '../../../../src/contracts/pipeline.ts'
import { fromFieldValue, NAMED_BY } from '../../../../src/net/mcp-name.ts'
import { HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION } from '../../../../src/net/rpc-error-codes.ts'
import { param, type Request } from '../../../../src/net/rpc-message.ts'
import { MODERN_VERSION } from '../../eras/discover-result.ts'
import { readClientFacts } from '../../eras/modern-meta.ts'
import { type Refusal, rpcRefusal } from '../../request-refusal.ts'
import { header, isModernVersion } from './mcp-headers.ts'

/** Methods whose requests must have `Mcp-Name`. */
const NEEDS_NAME = new Set(['tools/call', 'resources/read', 'prompts/get'])

export const headerMismatch = ({ idText }: Request, problem: string): Refusal =>
  rpcRefusal(400, HEADER_MISMATCH, `Header mismatch: ${problem}`, { idText })

/**
 * A header that repeats what the body says; `written` when the proxy has written or removed it itself, because it has
 * changed the body.
 */
export function repeating({ request, ownHeaders }: Exchange, name: string): string | 'written' | undefined {
  return ownHeaders?.has(name) ? 'written' : header(request, name)
}

/**
 * Refuses (400) a request of MCP 2026-07-28 that lacks required metadata, asks for a version that nobody speaks, or
 * whose headers do not repeat its body (streamable HTTP, server validation). A stdio server gets no headers, so the
 * bridge has to compare them.
 */
export function assertModernRequest(exchange: Exchange, message: Request, version: string): void {
  const { idText, method } = message
  const inHeader = header(exchange.request, 'mcp-protocol-version')
  if (inHeader === undefined) throw headerMismatch(message, 'MCP-Protocol-Version is missing')
  if (inHeader !== version) throw headerMismatch(message, `MCP-Protocol-Version is not that of _meta`)
  const facts = readClientFacts(message)
  if (typeof facts === 'string') throw rpcRefusal(400, INVALID_PARAMS, facts, { idText })
  if (!isModernVersion(version)) {
    const data = { supported: [MODERN_VERSION], requested: version }
    throw rpcRefusal(400, UNSUPPORTED_VERSION, 'The server does not speak this version', { idText, data })
  }
  const ofMethod = repeating(exchange, 'mcp-method')
  if (ofMethod === undefined) throw headerMismatch(message, 'Mcp-Method is missing')
  if (ofMethod !== 'written' && ofMethod !== method) {
    throw headerMismatch(message, 'Mcp-Method is not the method of the body')
  }
  assertName(exchange, message)
}

function assertName(exchange: Exchange, message: Request): void {
  const field = NAMED_BY.get(message.method)
  const name = field === undefined ? undefined : param(message, field)
  const inHeader = repeating(exchange, 'mcp-name')
  if (typeof name !== 'string' || inHeader === 'written') return
  if (inHeader === undefined) {
    if (NEEDS_NAME.has(message.method)) throw headerMismatch(message, 'Mcp-Name is missing')
    return
  }
  if (fromFieldValue(inHeader) !== name) throw headerMismatch(message, `Mcp-Name is not params.${field}`)
}
