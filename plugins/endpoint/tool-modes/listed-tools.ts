import { isObject } from '../../../src/lib/is-object.ts'
import { findSpan, parseRaw } from '../../../src/lib/raw-json.ts'
import { findList } from '../../../src/net/list-result.ts'
import { type MirroredArgument, mirroredArguments } from '../../../src/net/mirrored-arguments.ts'
import { markedServer } from './mark-server.ts'

/** A tool that a caller may use. All texts are its server's. */
export interface Tool {
  readonly name: string
  /** Its definition; raw text. */
  readonly item: string
  readonly server: string | undefined
  readonly title: string
  readonly description: string
  readonly inputSchema: unknown
  /** Arguments that headers repeat (MCP 2026-07-28). */
  readonly mirrored: readonly MirroredArgument[]
}

/** What one list of tools says. The same text is the same object as long as it is remembered. */
export interface ListedTools {
  readonly tools: ReadonlyMap<string, Tool>
  /** Servers whose list is not known. */
  readonly missing: readonly string[]
}

/** The lists that callers have got, as far as they are remembered. */
export interface KnownLists {
  /** Reads the result of `tools/list` (raw text). */
  read(result: string): ListedTools
  /** A tool of any of the lists: whether a caller may use it is not said. */
  find(name: string): Tool | undefined
}

/** What the endpoint says of servers that are missing from a list. */
const MISSING = 'keelson/missing'

/** Callers with other rights see other lists. */
const MOST_LISTS = 8

export function createKnownLists(): KnownLists {
  const known = new Map<string, ListedTools>()
  return {
    read(result) {
      const listed = known.get(result) ?? readList(result)
      known.delete(result)
      known.set(result, listed)
      const [oldest] = known.size > MOST_LISTS ? known.keys() : []
      if (oldest !== undefined) known.delete(oldest)
      return listed
    },
    find(name) {
      for (const { tools } of known.values()) if (tools.has(name)) return tools.get(name)
      return undefined
    },
  }
}

function readList(result: string): ListedTools {
  const tools = new Map<string, Tool>()
  for (const { start, end } of findList(result, 'tools').elements) {
    const tool = toTool(result.slice(start, end))
    if (tool) tools.set(tool.name, tool)
  }
  return { tools, missing: missingOf(result) }
}

function missingOf(result: string): string[] {
  const names = findSpan(result, { start: 0, end: result.length }, ['_meta', MISSING])
  const value = names && parseRaw(result.slice(names.start, names.end))
  return Array.isArray(value) ? value.filter(name => typeof name === 'string') : []
}

function toTool(item: string): Tool | undefined {
  const value = parseRaw(item)
  if (!isObject(value) || typeof value.name !== 'string') return undefined
  const { name, title, description, inputSchema, _meta } = value
  return {
    ...{ name, item, inputSchema },
    server: isObject(_meta) ? markedServer(_meta) : undefined,
    title: typeof title === 'string' ? title : '',
    description: typeof description === 'string' ? description : '',
    mirrored: mirroredArguments(inputSchema),
  }
}
