import type { Plugin } from '../../src/plugin.ts'
import { McpCall } from './commands/mcp-call.ts'
import { McpList } from './commands/mcp-list.ts'

/** Asks a running MCP server what it offers, and calls its tools. */
const mcp: Plugin = {
  name: 'mcp',
  needs: ['callers', 'state'],
  uses: ['callerToken'],
  wants: ['workloads'],
  commands: [McpList, McpCall],
  routes: async (api, app) => (await import('./routes.ts')).mcpRoutes(api, app),
}
export default mcp
