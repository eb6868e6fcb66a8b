import type { Tool } from '@modelcontextprotocol/client'
import { suggest } from '../../src/lib/suggest.ts'
import type { McpSession } from './connect.ts'
import { failures } from './failures.ts'
import { listOffers } from './list-offers.ts'

/** The tool of this name. Fails with `mcp_tool_unknown`, which names a near one. */
export async function findTool(session: McpSession, name: string): Promise<Tool> {
  const { tools = [] } = await listOffers(session, ['tools'], () => {})
  const tool = tools.find(one => one.name === name)
  if (tool) return tool
  throw failures.mcp_tool_unknown({
    tool: name,
    near: suggest(
      name,
      tools.map(one => one.name),
    ),
  })
}
