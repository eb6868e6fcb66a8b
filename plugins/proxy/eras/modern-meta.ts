import { omitRaw } from '../../../src/lib/raw-json.ts'
import { type Message, param, paramsObject, paramText } from '../../../src/net/rpc-message.ts'

/** What begins the names of the members of `_meta` that MCP itself defines (2026-07-28, basic: `_meta`). */
export const OF_PROTOCOL = 'io.modelcontextprotocol/'
export const VERSION = `${OF_PROTOCOL}protocolVersion`
export const CAPABILITIES = `${OF_PROTOCOL}clientCapabilities`
export const INFO = `${OF_PROTOCOL}clientInfo`
export const LOG_LEVEL = `${OF_PROTOCOL}logLevel`
export const SERVER_INFO = `${OF_PROTOCOL}serverInfo`
export const SUBSCRIPTION_ID = `${OF_PROTOCOL}subscriptionId`

/** What a request of MCP 2026-07-28 says of its client. */
export interface ClientFacts {
  /** Raw text (see raw-json.ts). */
  readonly capabilitiesText: string
  /** Raw text; undefined when the client does not say who it is. */
  readonly infoText: string | undefined
  readonly logLevel: unknown
}

/** The longest capabilities of a client, in bytes. They are kept as long as its session. */
const MAX_CAPABILITIES = 16 * 1024

/** The longest text that says who a client is, in bytes: it may hold icons. Clients are told apart by it. */
export const MAX_INFO = 64 * 1024

/** Why the capabilities of a client, raw, cannot be kept; undefined when they can. */
export const capabilitiesProblem = (capabilitiesText: string): string | undefined =>
  capabilitiesText.length > MAX_CAPABILITIES
    ? `The capabilities of the client are longer than ${MAX_CAPABILITIES} bytes`
    : undefined

/** Reads them; a text says which required one is missing, or too long. */
export function readClientFacts(request: Message): ClientFacts | string {
  if (typeof param(request, '_meta', VERSION) !== 'string') return `_meta has no ${VERSION}`
  const capabilitiesText = paramText(request, '_meta', CAPABILITIES)
  if (!capabilitiesText?.startsWith('{')) return `_meta has no ${CAPABILITIES}`
  const problem = capabilitiesProblem(capabilitiesText)
  if (problem !== undefined) return problem
  const infoText = paramText(request, '_meta', INFO)
  if (infoText !== undefined && infoText.length > MAX_INFO) return `${INFO} is longer than ${MAX_INFO} bytes`
  return {
    capabilitiesText,
    infoText,
    logLevel: param(request, '_meta', LOG_LEVEL),
  }
}

/**
 * The parameters of a message without what `_meta` says of the protocol. Trace context, progress tokens and what nobody here knows
 * stay.
 */
export function withoutProtocolMeta(message: Message, isOmitted = (_name: string) => false): string {
  const meta = paramText(message, '_meta')
  const kept = meta && omitRaw(meta, name => name.startsWith(OF_PROTOCOL))
  const others = omitRaw(paramsObject(message), name => name === '_meta' || isOmitted(name))
  if (kept === undefined || kept === '{}') return others
  return `${others.slice(0, -1)}${others === '{}' ? '' : ','}"_meta":${kept}}`
}
