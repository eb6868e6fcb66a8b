import type { App } from '../../src/app.ts'
import type { Report } from '../../src/contracts/runtime.ts'
import { callTool } from './call-tool.ts'
import { withServer } from './connect.ts'
import { describeContent } from './describe-content.ts'
import { findServer } from './find-server.ts'
import { listOffers } from './list-offers.ts'

interface Limits {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Asks servers for their tools, and calls them. */
export interface ServerTools {
  /** The tools of a running workload, or of the server at a URL. Fails as `mcp list` does. */
  of(server: string, limits: Limits): Promise<readonly ListedTool[]>
  /** What a tool returned, as text for people. Fails as `mcp call` does. */
  call(server: string, call: ToolCall, limits: Limits): Promise<{ text: string; isError: boolean }>
}

interface ListedTool {
  readonly name: string
  readonly description?: string | undefined
  /** A JSON Schema. */
  readonly inputSchema: unknown
}

interface ToolCall {
  readonly name: string
  readonly args: Record<string, unknown>
  /** Called with the progress that the server tells. */
  readonly report: Report
}

export const createServerTools = (app: App): ServerTools => ({
  async of(server, limits) {
    const address = await findServer(app, server, 'auto')
    const { tools = [] } = await withServer(address, { ...limits, log: app.log }, session =>
      listOffers(session, ['tools'], () => {}),
    )
    return tools
  },

  async call(server, call, limits) {
    const address = await findServer(app, server, 'auto')
    const result = await withServer(address, { ...limits, log: app.log }, session => callTool(session, call))
    return { text: describeContent(result).join('\n'), isError: result.isError === true }
  },
})
