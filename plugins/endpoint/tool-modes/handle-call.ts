import type { Exchange, Handler } from '../../../src/contracts/pipeline.ts'
import { messageOf } from '../../../src/errors.ts'
import { isObject } from '../../../src/lib/is-object.ts'
import { splice, toRaw } from '../../../src/lib/raw-json.ts'
import { toFieldValue } from '../../../src/net/mcp-name.ts'
import { memberOf, mirroredText } from '../../../src/net/mirrored-arguments.ts'
import {
  param,
  paramSpan,
  paramText,
  type Request,
  readMessage,
  resultText,
} from '../../../src/net/rpc-message.ts'
import type { AskTools } from './ask-tools.ts'
import type { KnownLists, Tool } from './listed-tools.ts'
import { callResult, OWN_TOOLS, type OwnResult, unknownTool } from './own-tools.ts'
import { createRankTools } from './rank-tools.ts'
import { CALL_TOOL } from './tool-definitions.ts'

/**
 * Responds to calls of the endpoint's own tools, and passes on all else. A call through `call_tool` goes on as the call
 * that it asks for, so that all further stages see, judge and record that one.
 *
 * @param options.own the names of the endpoint's own tools
 */
export function createHandleCall(options: {
  lists: KnownLists
  ask: AskTools
  own: ReadonlySet<string>
}): (exchange: Exchange, next: Handler) => Promise<void> {
  const { lists, ask, own } = options
  const rank = createRankTools()

  async function respond(exchange: Exchange, request: Request, result: Promise<OwnResult>): Promise<void> {
    const shown = await result.catch((error: unknown) => ({ text: toRaw(messageOf(error)), isError: true }))
    const isModern = exchange.request.headers['mcp-method'] !== undefined
    exchange.respond(resultText(request.idText, callResult(shown, isModern)))
  }

  async function pass(exchange: Exchange, next: Handler, call: Request): Promise<void> {
    const name = String(param(call, 'name'))
    const tool = lists.find(name)
    if (tool) return next(withHeaders(exchange, call, tool))
    const listed = await ask(exchange, call)
    const found = listed.tools.get(name)
    return found
      ? next(withHeaders(exchange, call, found))
      : respond(exchange, call, unknownTool(listed, name, rank))
  }

  return async (exchange, next) => {
    const text = await exchange.rawText()
    const request = text === undefined ? undefined : readMessage(text)
    if (request?.kind !== 'request' || request.method !== 'tools/call') return next(exchange)
    const name = String(param(request, 'name'))
    if (!own.has(name)) return pass(exchange, next, request)
    if (name === CALL_TOOL) {
      const inner = innerCall(request)
      if (inner === undefined) return respond(exchange, request, Promise.resolve(badCall))
      exchange.replaceBody(Buffer.from(inner.text, 'latin1'))
      return pass(exchange, next, inner)
    }
    const args = param(request, 'arguments')
    const listed = ask(exchange, request)
    return respond(
      exchange,
      request,
      listed.then(tools => OWN_TOOLS.get(name)?.(tools, isObject(args) ? args : {}, rank) ?? badCall),
    )
  }
}

const badCall: OwnResult = {
  text: `${CALL_TOOL} needs "name", the name of a tool, and "arguments", an object`,
  isError: true,
}

/** The call that a call of `call_tool` asks for; undefined where it asks for none. */
function innerCall(request: Request): Request | undefined {
  const name = param(request, 'arguments', 'name')
  const args = paramText(request, 'arguments', 'arguments') ?? '{}'
  if (typeof name !== 'string' || !args.startsWith('{')) return undefined
  const text = splice(request.text, [
    { span: paramSpan(request, 'name'), text: toRaw(JSON.stringify(name)) },
    { span: paramSpan(request, 'arguments'), text: args },
  ])
  return readMessage(text) as Request
}

/** Clients of MCP 2026-07-28 repeat in headers what is in a call. Of a tool that they have not seen, we do. */
function withHeaders(exchange: Exchange, call: Request, { name, mirrored }: Tool): Exchange {
  if (exchange.request.headers['mcp-method'] === undefined) return exchange
  exchange.setHeader('mcp-name', toFieldValue(name))
  const args = mirrored.length > 0 ? param(call, 'arguments') : undefined
  for (const { header, path } of mirrored) {
    const text = mirroredText(path.reduce<unknown>(memberOf, args))
    exchange.setHeader(header, text === undefined ? undefined : toFieldValue(text))
  }
  return exchange
}
