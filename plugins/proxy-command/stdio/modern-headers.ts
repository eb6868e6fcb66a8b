import { parseRaw, topLevelMembers } from '../../../src/lib/raw-json.ts'
import { type Message, param, type Request } from '../../../src/net/rpc-message.ts'

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

/** The parameter that the header `Mcp-Name` repeats (SEP-2243, SEP-2663). */
const NAMED_BY = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

/** An argument of a tool that a header repeats, as its input schema says with `x-mcp-header`. */
interface MirroredArgument {
  readonly header: string
  readonly path: readonly string[]
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
        const value = toText(param(request, 'arguments', ...path))
        if (value !== undefined) add(`mcp-param-${header.toLowerCase()}`, value)
      }
      return headers
    },
    learn(toolList) {
      const result = topLevelMembers(toolList)?.at.get('result')
      const tools = result && memberOf(parseRaw(toolList.slice(result.start, result.end)), 'tools')
      for (const tool of Array.isArray(tools) ? tools : []) {
        const name = memberOf(tool, 'name')
        if (typeof name !== 'string' || name.length > MOST_BYTES) continue
        const found = findMirrored(memberOf(tool, 'inputSchema'), []).slice(0, MOST_ARGUMENTS)
        mirrored.delete(name)
        if (found.length) mirrored.set(name, found)
        const [oldest] = mirrored.keys()
        if (mirrored.size > MOST_TOOLS && oldest !== undefined) mirrored.delete(oldest)
      }
    },
  }
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** Of names and values that one request repeats; servers refuse longer heads. What is beyond is left out. */
const MOST_BYTES = 8 * 1024
/** Tools whose headers are known. */
const MOST_TOOLS = 1000
/** Headers of one tool. */
const MOST_ARGUMENTS = 50
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/
const MAX_DEPTH = 20

/** Only properties that a chain of `properties` reaches may have the annotation. */
function findMirrored(schema: unknown, path: readonly string[]): MirroredArgument[] {
  const properties = memberOf(schema, 'properties')
  if (typeof properties !== 'object' || properties === null || path.length > MAX_DEPTH) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    const header = memberOf(property, 'x-mcp-header')
    const own = typeof header === 'string' && TOKEN.test(header) ? [{ header, path: [...path, name] }] : []
    return [...own, ...findMirrored(property, [...path, name])]
  })
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  return Number.isSafeInteger(value) ? String(value) : undefined
}

/** What is no plain field value (RFC 9110, section 5.5) is sent as Base64, marked as such. */
const toFieldValue = (text: string): string =>
  /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
    ? text
    : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
