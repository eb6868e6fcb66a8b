import { parseRaw, type Span, splice, topLevelMembers } from '../lib/raw-json.ts'
import { rewriteItems, UnreadableResult } from './list-result.ts'
import { NAMED_BY } from './mcp-name.ts'
import { mirrorProblem } from './mirror-problem.ts'
import {
  type MirroredArgument,
  MOST_HEADER_BYTES,
  memberOf,
  mirroredArguments,
  mirroredText,
  repeatInHeaders,
} from './mirrored-arguments.ts'
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
  /**
   * Reads which arguments of tools have headers, from a response to `tools/list` (raw text). Returns the response
   * without the tools whose annotations are not valid; `onInvalid` is called for each.
   */
  learn(toolList: string, onInvalid?: (tool: string, problem: string) => void): string
}

/** A quick test, since most lists annotate nothing. Names may be written with escapes. */
const MAY_ANNOTATE = /x-mcp-header|\\u/

export function createModernHeaders(): ModernHeaders {
  const mirrored = new Map<string, readonly MirroredArgument[]>()
  return {
    of(request, version) {
      const { method } = request
      const headers: Record<string, string> = { 'mcp-protocol-version': version, 'mcp-method': method }
      const field = NAMED_BY.get(method)
      const name = field === undefined ? undefined : param(request, field)
      if (typeof name !== 'string') return headers
      const repeated = method === 'tools/call' ? (mirrored.get(name) ?? []) : []
      const valueAt = (path: readonly string[]) => mirroredText(param(request, 'arguments', ...path))
      const texts = repeated.map(({ header, path }) => [header, valueAt(path)] as const)
      return { ...headers, ...repeatInHeaders([['mcp-name', name], ...texts]) }
    },
    learn(toolList, onInvalid = () => {}) {
      const result = topLevelMembers(toolList)?.at.get('result')
      const tools = result && memberOf(parseRaw(toolList.slice(result.start, result.end)), 'tools')
      for (const tool of Array.isArray(tools) ? tools : []) {
        const name = memberOf(tool, 'name')
        if (typeof name !== 'string' || name.length > MOST_HEADER_BYTES) continue
        const found = mirroredArguments(memberOf(tool, 'inputSchema'))
        mirrored.delete(name)
        if (found.length) mirrored.set(name, found)
        const [oldest] = mirrored.keys()
        if (mirrored.size > MOST_TOOLS && oldest !== undefined) mirrored.delete(oldest)
      }
      return result && MAY_ANNOTATE.test(toolList) ? withoutInvalid(toolList, result, onInvalid) : toolList
    },
  }
}

function withoutInvalid(
  toolList: string,
  result: Span,
  onInvalid: (tool: string, problem: string) => void,
): string {
  try {
    const text = rewriteItems(toolList.slice(result.start, result.end), 'tools', tool => {
      const schema = tool.member('inputSchema')
      const problem = schema && MAY_ANNOTATE.test(schema) ? mirrorProblem(parseRaw(schema)) : undefined
      if (problem === undefined) return tool.text
      onInvalid(tool.name, problem)
      return undefined
    })
    return splice(toolList, [{ span: result, text }])
  } catch (error) {
    if (error instanceof UnreadableResult) return toolList
    throw error
  }
}

/** Tools whose headers are known. */
const MOST_TOOLS = 1000
