import type { Exchange, Handler, MiddlewareFactory, RewriteResult } from '../../src/contracts/pipeline.ts'
import { type ListItem, rewriteItems } from '../../src/net/list-result.ts'
import { toFieldValue } from '../../src/net/mcp-name.ts'
import { INVALID_PARAMS } from '../../src/net/rpc-error-codes.ts'
import { errorText, param, readMessage } from '../../src/net/rpc-message.ts'
import { hasBody } from '../proxy/index.ts'
import { describeSelection } from './describe-selection.ts'
import { failures } from './failures.ts'
import { createKnownTools, type KnownTools } from './known-tools.ts'
import { rewriteCall } from './rewrite-call.ts'
import { rewriteTool } from './rewrite-tool.ts'
import { createSelection, type Selection } from './selection.ts'
import { setMirrored } from './set-mirrored.ts'
import type { ToolControl, ToolControls } from './tool-controls.ts'
import { verifyNames } from './verify-names.ts'

const LIST_CHANGED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })

/**
 * Shows clients the tools that the run config selects, under the names that it gives them. What is selected may change
 * while the proxy is open, so the middleware is there also where nothing is selected.
 */
export const toolsMiddleware =
  (controls: ToolControls = new Map()): MiddlewareFactory =>
  async (config, _listener, { log, listTools, resultsChanged }) => {
    let selection = createSelection(config)
    let summary = selection && describeSelection(config)
    const known = createKnownTools(listTools)
    const control: ToolControl = {
      listTools,
      select(settings) {
        selection = createSelection(settings)
        summary = selection && describeSelection(settings)
        resultsChanged(LIST_CHANGED)
      },
    }
    controls.set(config.name, control)
    function change(tool: ListItem): string | undefined {
      if (!selection) return tool.text
      if (selection.readOnly || selection.unseenArguments(tool.name).length) {
        const { isReadOnly } = known.learn(tool)
        if (selection.readOnly && !isReadOnly) return undefined
      }
      return rewriteTool(tool, selection)
    }
    const list: RewriteResult = (result, _exchange, lists) => rewriteItems(result, 'tools', change, lists)
    const rewrites = new Map([['tools/list', list]])
    return {
      name: 'tools',
      stage: 'tools',
      get summary() {
        return summary
      },
      get rewrites() {
        return selection && rewrites
      },
      wrap: next => exchange => {
        const { request } = exchange
        return selection && (request.method === 'POST' || hasBody(request))
          ? judge(exchange, next, { selection, known })
          : next(exchange)
      },
      verify: ({ signal }) =>
        verifyNames(config, { workload: config.name, listTools: () => listTools({ signal }), log }),
      close() {
        if (controls.get(config.name) === control) controls.delete(config.name)
      },
    }
  }

/** Passes on what calls no tool, and calls of tools that are shown. */
async function judge(
  exchange: Exchange,
  next: Handler,
  { selection, known }: { selection: Selection; known: KnownTools },
): Promise<void> {
  const text = await exchange.rawText()
  const message = text === undefined ? undefined : readMessage(text)
  if (!message) throw failures.tools_message_unreadable()
  if (message.kind === 'response') return next(exchange)
  // A server may go by the header (MCP 2026-07-28), so it says what the body says.
  if (exchange.request.headers['mcp-method'] !== undefined)
    exchange.setHeader('mcp-method', toFieldValue(message.method))
  if (message.method !== 'tools/call') return next(exchange)
  // Nobody gets the result of a call without an id, but a server might do what it says.
  if (message.kind !== 'request') throw failures.tools_message_unreadable()

  const refuse = (problem: string) => exchange.respond(errorText(message.idText, INVALID_PARAMS, problem))
  const shown = param(message, 'name')
  if (typeof shown !== 'string') return refuse('The call has no name of a tool')
  const real = selection.realName(shown)
  if (real === undefined || (selection.readOnly && !(await known.find(real))?.isReadOnly))
    return refuse(`Unknown tool: ${shown}`)
  const call = rewriteCall(message, real, selection.override(real))
  if ('problem' in call) return refuse(call.problem)
  const { headers } = exchange.request
  if (headers['mcp-name'] !== undefined) exchange.setHeader('mcp-name', toFieldValue(real))
  const unseen = selection.unseenArguments(real)
  if (unseen.length && headers['mcp-method'] !== undefined) {
    const fixed = selection.override(real)?.fixed_arguments ?? {}
    setMirrored(exchange, { unseen, fixed, mirrored: (await known.find(real))?.mirrored })
  }
  if (call.text !== message.text) exchange.replaceBody(Buffer.from(call.text, 'latin1'))
  return next(exchange)
}
