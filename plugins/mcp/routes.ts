import type { Routes } from '../../src/http/api.ts'
import { anything, closed, list, map, object, optional, text } from '../../src/lib/schema.ts'
import { workloadName } from '../state/index.ts'
import { asBadGateway } from './as-bad-gateway.ts'
import { callRoutes } from './call-routes.ts'
import { withServer } from './connect.ts'
import { findServer } from './find-server.ts'
import { listOffers } from './list-offers.ts'
import { offerRoutes } from './offer-routes.ts'

const TIMEOUT_MS = 30_000

const tool = object(
  {
    name: text,
    title: optional(text),
    description: optional(text),
    inputSchema: optional(map(anything)),
  },
  { additionalProperties: true, description: 'A tool, as MCP writes it' },
)

/** What the server of a workload offers, asked for through the workload's own proxy. */
export const mcpRoutes: Routes = (api, app) => {
  api.operation({
    id: 'listWorkloadTools',
    method: 'GET',
    path: '/api/v1beta/workloads/{name}/tools',
    params: { name: workloadName },
    tag: 'workloads',
    summary: 'The tools that the server of a running workload offers now',
    response: [200, object({ tools: list(tool) }, closed)],
    failures: [400, 404, 409, 502],
    async handle({ params: { name }, signal }) {
      const server = await findServer(app, name, 'auto')
      const list = withServer(server, { timeoutMs: TIMEOUT_MS, signal, log: app.log }, session =>
        listOffers(session, ['tools'], () => undefined),
      )
      return { tools: (await list.catch(asBadGateway)).tools ?? [] }
    },
  })
  callRoutes(api, app)
  offerRoutes(api, app)
}
