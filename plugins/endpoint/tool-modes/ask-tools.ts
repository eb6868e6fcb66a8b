import type { Exchange, MiddlewareContext } from '../../../src/contracts/pipeline.ts'
import { omitRaw, parseRaw } from '../../../src/lib/raw-json.ts'
import { paramText, type Request, type Response, readMessage } from '../../../src/net/rpc-message.ts'
import type { KnownLists, ListedTools } from './listed-tools.ts'

/**
 * Asks for the tools that the caller of a request may use: all policies and filters of the endpoint and of its servers
 * count for the list. Fails when there is none.
 */
export type AskTools = (exchange: Exchange, request: Request) => Promise<ListedTools>

export const createAskTools =
  ({ askWithin }: Pick<MiddlewareContext, 'askWithin'>, lists: KnownLists): AskTools =>
  async (exchange, request) => {
    const text = withinText(request, 'tools/list', '{}')
    const response = readMessage(await askWithin(exchange, text, { signal: exchange.signal })) as Response
    if (response.result) return lists.read(response.text.slice(response.result.start, response.result.end))
    const { message } = parseRaw(response.text.slice(response.error?.start, response.error?.end)) as {
      message?: unknown
    }
    throw new Error(`the tools cannot be listed: ${String(message)}`)
  }

/** A request (raw text) in the course of another one, whose `_meta` says which client asks (MCP 2026-07-28). */
export function withinText(outer: Request, method: string, params: string): string {
  const meta = omitRaw(paramText(outer, '_meta') ?? '{}', name => name === 'progressToken')
  const members = params === '{}' ? '' : `,${params.slice(1, -1)}`
  const id = `"keelson-${crypto.randomUUID()}"`
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{"_meta":${meta}${members}}}`
}
