import type { ListedTool } from '../../../src/contracts/pipeline.ts'
import { isObject } from '../../../src/lib/is-object.ts'

/** Pages, and tools, of a list that are read; a server could page for ever. */
const MOST_PAGES = 1000
const MOST_TOOLS = 10_000

/** Sends a request to the server; undefined when the server asks for a login. Fails with its error. */
export type AskOwn = (method: string, params: object) => Promise<unknown>

/** All pages of the server's list of tools. Undefined when the server asks for a login. */
export async function listTools(ask: AskOwn): Promise<ListedTool[] | undefined> {
  const tools: ListedTool[] = []
  let cursor: unknown
  for (let page = 0; page < MOST_PAGES && tools.length <= MOST_TOOLS; page += 1) {
    const result = await ask('tools/list', typeof cursor === 'string' ? { cursor } : {})
    if (result === undefined) return undefined
    if (!isObject(result) || !Array.isArray(result.tools)) throw new Error('its list of tools cannot be read')
    tools.push(...result.tools.filter(isTool))
    cursor = result.nextCursor
    if (cursor === undefined || cursor === null) return tools
  }
  throw new Error('its list of tools does not end')
}

const isTool = (value: unknown): value is ListedTool => isObject(value) && typeof value.name === 'string'
