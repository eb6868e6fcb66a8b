import type { Middleware, MiddlewareContext, RewriteResult } from '../../../src/contracts/pipeline.ts'
import { splice, toRaw } from '../../../src/lib/raw-json.ts'
import { findList } from '../../../src/net/list-result.ts'
import { hasBody } from '../../proxy/index.ts'
import { createAskTools } from './ask-tools.ts'
import { createHandleCall } from './handle-call.ts'
import { createKnownLists, type ListedTools } from './listed-tools.ts'
import type { ToolMode } from './modes.ts'
import { namesList } from './names-list.ts'
import { CALL_TOOL, DESCRIBE_TOOL, FIND_TOOLS, searchTools } from './tool-definitions.ts'

type Mode = Exclude<ToolMode, 'all'>

/** By mode, the tools that clients see (raw texts). */
const SHOWN: Readonly<Record<Mode, (listed: ListedTools) => readonly string[]>> = {
  names: namesList,
  search: listed => searchTools(listed).map(tool => toRaw(JSON.stringify(tool))),
}

/** By mode, the names of tools that the endpoint has itself. */
const OWN_NAMES: Readonly<Record<Mode, ReadonlySet<string>>> = {
  names: new Set([DESCRIBE_TOOL]),
  search: new Set([FIND_TOOLS, DESCRIBE_TOOL, CALL_TOOL]),
}

const SUMMARIES: Readonly<Record<Mode, string>> = {
  names: 'tools by name; describe_tool for more',
  search: 'find_tools, describe_tool and call_tool in place of all tools',
}

/** Shows clients less than all definitions of tools, within what they may use. */
export function createToolMode(mode: Mode, context: MiddlewareContext): Middleware {
  const lists = createKnownLists()
  const show: RewriteResult = (result, { outer }, named) => {
    if (outer) return result
    const { span } = findList(result, 'tools', named)
    return splice(result, [{ span, text: `[${SHOWN[mode](lists.read(result)).join(',')}]` }])
  }
  const handle = createHandleCall({ lists, ask: createAskTools(context, lists), own: OWN_NAMES[mode] })
  return {
    name: 'tool-mode',
    stage: 'present',
    summary: SUMMARIES[mode],
    rewrites: new Map([['tools/list', show]]),
    wrap: next => exchange => (hasBody(exchange.request) ? handle(exchange, next) : next(exchange)),
  }
}
