import type { Plugin } from '../../src/plugin.ts'
import { McpCall } from './commands/mcp-call.ts'
import { McpInspect } from './commands/mcp-inspect.ts'
import { McpList } from './commands/mcp-list.ts'
import type { ServerTools } from './server-tools.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    serverTools: ServerTools
  }
}

/** Asks a running MCP server what it offers, and calls its tools. */
const mcp: Plugin = {
  name: 'mcp',
  needs: ['callers', 'state'],
  uses: ['callerToken'],
  wants: ['workloads'],
  commands: [McpList, McpInspect, McpCall],
  services: { serverTools: async app => (await import('./server-tools.ts')).createServerTools(app) },
  routes: async (api, app) => (await import('./routes.ts')).mcpRoutes(api, app),
}
export default mcp
