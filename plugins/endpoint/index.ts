import type { App } from '../../src/app.ts'
import type { MiddlewareFactory } from '../../src/contracts/pipeline.ts'
import type { Plugin } from '../../src/plugin.ts'
import type {} from '../callers/index.ts'
import type {} from '../groups/index.ts'
import type {} from '../mcp/index.ts'
import type {} from '../proxy-command/index.ts'
import type {} from '../state/index.ts'
import type {} from '../workloads/index.ts'
import { EndpointCreate } from './commands/endpoint-create.ts'
import { EndpointEdit } from './commands/endpoint-edit.ts'
import { EndpointExplain } from './commands/endpoint-explain.ts'
import { EndpointImport } from './commands/endpoint-import.ts'
import { EndpointList } from './commands/endpoint-list.ts'
import { EndpointStatus } from './commands/endpoint-status.ts'
import { EndpointValidate } from './commands/endpoint-validate.ts'
import type { Endpoints } from './endpoints.ts'
import { endpointSection } from './section.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    endpoints: Endpoints
  }
}

async function createRuntime(app: App) {
  const { createEndpointRuntime } = await import('./runtime/endpoint-runtime.ts')
  const openers = async () => (await import('./runtime/open-hosted-servers.ts')).openHostedServers(app)
  let opener: ReturnType<typeof openers> | undefined
  return createEndpointRuntime({
    async open(workload) {
      opener ??= openers()
      return (await opener)(workload)
    },
  })
}

/** Nothing is loaded for workloads that are not endpoints, or that list all definitions. */
const toolMode = (): MiddlewareFactory => async (config, _listener, context) => {
  const mode = config.endpoint?.tool_mode ?? 'all'
  if (mode === 'all') return undefined
  return (await import('./tool-modes/middleware.ts')).createToolMode(mode, context)
}

const views = (): MiddlewareFactory => async config =>
  config.endpoint?.views && (await import('./views/middleware.ts')).createViews(config.endpoint.views)

/** One URL for several workloads: their tools, prompts and resources in one server. */
const endpoint: Plugin = {
  name: 'endpoint',
  needs: ['callers', 'groups', 'mcp', 'proxy', 'proxy-command', 'state', 'tools', 'workloads'],
  uses: ['callerToken', 'groups', 'proxies', 'serverTools', 'workloadBridge', 'workloads', 'workloadStore'],
  commands: [
    ...[EndpointCreate, EndpointEdit, EndpointExplain, EndpointImport],
    ...[EndpointList, EndpointStatus, EndpointValidate],
  ],
  routes: async (api, app) => (await import('./routes.ts')).endpointRoutes(api, app),
  services: { endpoints: async app => (await import('./endpoints.ts')).createEndpoints(app) },
  provides: { sections: [endpointSection], runtimes: [createRuntime], middlewares: [toolMode, views] },
}
export default endpoint
