import type { App } from '../../src/app.ts'
import { withServer } from './connect.ts'
import { findServer } from './find-server.ts'
import { listOffers } from './list-offers.ts'

/** Asks servers for their tools. */
export interface ServerTools {
  /** The tools of a running workload, or of the server at a URL. Fails as `mcp list` does. */
  of(server: string, limits: { timeoutMs: number; signal: AbortSignal }): Promise<readonly ListedTool[]>
}

interface ListedTool {
  readonly name: string
  /** A JSON Schema. */
  readonly inputSchema: unknown
}

export const createServerTools = (app: App): ServerTools => ({
  async of(server, limits) {
    const address = await findServer(app, server, 'auto')
    const { tools = [] } = await withServer(address, { ...limits, log: app.log }, session =>
      listOffers(session, ['tools'], () => {}),
    )
    return tools
  },
})
