import { parseRaw, topLevelMembers } from '../lib/raw-json.ts'
import { NAMED_BY, toFieldValue } from './mcp-name.ts'
import { type MirroredArgument, memberOf, mirroredArguments, mirroredText } from './mirrored-arguments.ts'
import { type Message, param, type Request } from './rpc-message.ts'

const VERSION = /^\d{4}-\d{2}-\d{2}$/
const LAST_WITH_SESSIONS = '2025-11-25'
const META_VERSION = 'io.modelcontextprotocol/protocolVersion'

/** The revision of 2026-07-28 or later that a message is written in; undefined for the era of sessions. */
export function modernVersionOf(message: Message): string | undefined {
  if (message.kind === 'response' || message.method === 'initialize') return undefined
  const version = param(message, '_meta', META_VERSION)
  return typeof version === 'string' && VERSION.test(version) && version > LAST_WITH_SESSIONS
    ? version
    : undefined
}

/** The headers of requests of the 2026-07-28 revision, which repeat what is in the body (SEP-2243). */
export interface ModernHeaders {
  of(request: Request, version: string): Record<string, string>
  /** Reads which arguments of tools have headers. */
  learn(toolList: string): void
}

export function createModernHeaders(): ModernHeaders {
  const mirrored = new Map<string, readonly MirroredArgument[]>()
  return {
    of(request, version) {
      const { method } = request
      const headers: Record<string, string> = { 'mcp-protocol-version': version, 'mcp-method': method }
      let left = MOST_BYTES
      const add = (header: string, text: string): void => {
        const value = toFieldValue(text)
        const bytes = header.length + value.length
        if (bytes > left) return
        left -= bytes
        headers[header] = value
      }
      const field = NAMED_BY.get(method)
      const name = field === undefined ? undefined : param(request, field)
      if (typeof name === 'string') add('mcp-name', name)
      if (method !== 'tools/call' || typeof name !== 'string') return headers
      for (const { header, path } of mirrored.get(name) ?? []) {
        const value = mirroredText(param(request, 'arguments', ...path))
        if (value !== undefined) add(header, value)
      }
      return headers
    },
    learn(toolList) {
      const result = topLevelMembers(toolList)?.at.get('result')
      const tools = result && memberOf(parseRaw(toolList.slice(result.start, result.end)), 'tools')
      for (const tool of Array.isArray(tools) ? tools : []) {
        const name = memberOf(tool, 'name')
        if (typeof name !== 'string' || name.length > MOST_BYTES) continue
        const found = mirroredArguments(memberOf(tool, 'inputSchema'))
        mirrored.delete(name)
        if (found.length) mirrored.set(name, found)
        const [oldest] = mirrored.keys()
        if (mirrored.size > MOST_TOOLS && oldest !== undefined) mirrored.delete(oldest)
      }
    },
  }
}

/** Of names and values that one request repeats; servers refuse longer heads. What is beyond is left out. */
const MOST_BYTES = 8 * 1024
/** Tools whose headers are known. */
const MOST_TOOLS = 1000
