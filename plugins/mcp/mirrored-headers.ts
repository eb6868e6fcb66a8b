import type { Tool } from '@modelcontextprotocol/client'
import {
  memberOf,
  mirroredArguments,
  mirroredText,
  repeatInHeaders,
} from '../../src/net/mirrored-arguments.ts'
import type { McpSession } from './connect.ts'

const MOST_PAGES = 100

/**
 * The headers that repeat arguments of a tool (MCP 2026-07-28), according to the server's list of tools. Proxies on the way
 * may rely on them, and a server need not refuse a call without them. Empty if the list cannot be read: the call shows why.
 */
export async function mirroredHeaders(
  session: McpSession,
  name: string,
  args: Record<string, unknown>,
): Promise<Record<string, string>> {
  const { client } = session
  if (client.getProtocolEra() !== 'modern' || !client.getServerCapabilities()?.tools) return {}
  const tool = await findInList(session, name).catch(() => undefined)
  const mirrored = mirroredArguments(tool?.inputSchema)
  return repeatInHeaders(
    mirrored.map(({ header, path }) => [header, mirroredText(path.reduce<unknown>(memberOf, args))]),
  )
}

/** Reads no more pages than needed. Avoids `listTools`, after which the SDK would validate the results of calls. */
async function findInList({ client, options }: McpSession, name: string): Promise<Tool | undefined> {
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, options)
    const tool = tools.find(one => one.name === name)
    if (tool || nextCursor === undefined) return tool
    cursor = nextCursor
  }
  return undefined
}
