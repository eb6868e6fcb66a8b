import { STATELESS_ERRORS, UNSUPPORTED_VERSION } from './rpc-error-codes.ts'

const FIRST_STATELESS = '2026-07-28'

/**
 * Whether an error of JSON-RPC is that of a server which serves MCP 2026-07-28 or later. A server that knows that
 * revision and serves only older ones refuses it with -32022, too, and names those (MCP 2026-07-28, versioning).
 */
export function isStatelessError({ code, data }: { code?: unknown; data?: unknown }): boolean {
  if (!STATELESS_ERRORS.has(code)) return false
  const { supported } = (data ?? {}) as { supported?: unknown }
  if (code !== UNSUPPORTED_VERSION || !Array.isArray(supported)) return true
  return supported.some(version => typeof version === 'string' && version >= FIRST_STATELESS)
}
