import type { IncomingMessage } from 'node:http'
import { INVALID_REQUEST } from '../../../../src/net/rpc-error-codes.ts'
import { type Message, param } from '../../../../src/net/rpc-message.ts'
import { rpcRefusal } from '../../request-refusal.ts'
import { SESSION_VERSIONS } from '../../revisions/index.ts'

const LAST_WITH_SESSIONS = SESSION_VERSIONS.at(-1) ?? ''
/** First revision whose clients take an event without data (SEP-1699); older ones try to parse it. */
const FIRST_WITH_PRIMING = '2025-11-25'
const VERSION = /^\d{4}-\d{2}-\d{2}$/

/** A header that may come once; of several the first counts. */
export function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Media types that a client takes; without the header all of them. */
export function accepts(request: IncomingMessage, type: string): boolean {
  const accept = header(request, 'accept')
  if (accept === undefined || accept.trim() === '') return true
  const [main] = type.split('/')
  return accept
    .split(',')
    .map(item => item.split(';', 1)[0]?.trim().toLowerCase())
    .some(item => item === type || item === '*/*' || item === `${main}/*`)
}

/** Refuses a GET whose client does not take an event stream. */
export function assertTakesEvents(request: IncomingMessage): void {
  if (accepts(request, 'text/event-stream')) return
  throw rpcRefusal(406, INVALID_REQUEST, 'The Accept header must allow text/event-stream')
}

/** Whether a client asks for an event stream by name. */
export const wantsStream = (request: IncomingMessage): boolean =>
  /\btext\/event-stream\b/i.test(header(request, 'accept') ?? '')

export const isJsonBody = (request: IncomingMessage): boolean =>
  /^application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(header(request, 'content-type') ?? '')

export const takesPriming = (request: IncomingMessage): boolean => {
  const version = header(request, 'mcp-protocol-version')
  return version !== undefined && VERSION.test(version) && version >= FIRST_WITH_PRIMING
}

/**
 * The version of a message in the manner of 2026-07-28, whose metadata or header says it; undefined for the era of
 * sessions. What the metadata says may be no version at all.
 */
export function modernVersion(request: IncomingMessage, message: Message): string | undefined {
  if (message.kind === 'response') return undefined
  const stated = param(message, '_meta', 'io.modelcontextprotocol/protocolVersion')
  if (typeof stated === 'string') return stated
  const version = message.method === 'initialize' ? undefined : header(request, 'mcp-protocol-version')
  return version !== undefined && isModernVersion(version) ? version : undefined
}

export const isModernVersion = (version: string): boolean =>
  VERSION.test(version) && version > LAST_WITH_SESSIONS

/** Refuses a version that no revision of MCP has (2025-06-18, Protocol Version Header). Newer ones pass. */
export function assertKnownVersion(request: IncomingMessage, idText?: string): void {
  const version = header(request, 'mcp-protocol-version')
  if (version === undefined || SESSION_VERSIONS.includes(version)) return
  if (VERSION.test(version) && version > LAST_WITH_SESSIONS) return
  const problem = `The MCP-Protocol-Version header names none of ${SESSION_VERSIONS.join(', ')} or newer`
  throw rpcRefusal(400, INVALID_REQUEST, problem, { idText })
}
