/** Error codes of JSON-RPC 2.0, section 5.1. */
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

/** The first of the codes that JSON-RPC 2.0 leaves to servers: whatever has no code of its own. */
export const SERVER_ERROR = -32000
/** What a proxy of ours says with it of a call that took too long. */
export const LATE_MESSAGE = 'The server did not respond in time'
/** The session of a request is unknown or has ended. */
export const SESSION_NOT_FOUND = -32001
/** A resource does not exist (MCP up to 2025-11-25; since 2026-07-28 -32602 says so). */
export const RESOURCE_NOT_FOUND = -32002
/** HeaderMismatch (MCP 2026-07-28). */
export const HEADER_MISMATCH = -32020
/** MissingRequiredClientCapability (MCP 2026-07-28). */
export const MISSING_CAPABILITY = -32021
/** UnsupportedProtocolVersion (MCP 2026-07-28). */
export const UNSUPPORTED_VERSION = -32022

/** The codes that only servers of 2026-07-28 return, by which their era is recognised (MCP versioning). */
export const STATELESS_ERRORS: ReadonlySet<unknown> = new Set([
  HEADER_MISMATCH,
  MISSING_CAPABILITY,
  UNSUPPORTED_VERSION,
])

/** The codes with which a server refuses `initialize` because it has none, as servers of 2026-07-28 do. */
export const NO_HANDSHAKE: ReadonlySet<unknown> = new Set([UNSUPPORTED_VERSION, METHOD_NOT_FOUND])
