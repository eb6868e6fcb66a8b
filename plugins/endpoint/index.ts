import type { App } from '../../src/app.ts'
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
import { EndpointList } from './commands/endpoint-list.ts'
import { EndpointStatus } from './commands/endpoint-status.ts'
import type { Endpoints } from './endpoints.ts'
import { endpointSection } from './section.ts'

declare module '../../src/plugin.ts' {
  interface Services {
    endpoints: Endpoints
  }
}

async function createRuntime(app: App) {
  const [{ createEndpointRuntime }, { createSharedStates }, { watchMembers }, { readMembers }] =
    await Promise.all([
      import('./runtime/endpoint-runtime.ts'),
      import('./runtime/shared-state.ts'),
      import('./members/watch-members.ts'),
      import('./members/read-members.ts'),
    ])
  const [{ createEndpointServer }, { createWays }, { limitsOf }] = await Promise.all([
    import('./server/endpoint-server.ts'),
    import('./server/carry-to.ts'),
    import('./server/deadline.ts'),
  ])
  const store = await app.service('workloadStore')
  const states = createSharedStates(endpoint =>
    watchMembers({
      watch: store.watch,
      read: async () => readMembers(store, (await store.configs.get(endpoint)).endpoint ?? {}),
    }),
  )
  return createEndpointRuntime({
    async open(name) {
      const [{ endpoint }, { state, release }, wayTo] = await Promise.all([
        store.configs.get(name),
        states.of(name),
        createWays(app),
      ])
      const naming = endpoint?.naming ?? 'prefix'
      return send => {
        const server = createEndpointServer({
          ...{ name, naming, members: state.members, shared: state, send, log: app.log },
          limitsOf: server => limitsOf(endpoint ?? {}, server),
          carryTo: member => wayTo(member, state),
        })
        function close(): void {
          server.close()
          release()
        }
        return { ...server, close }
      }
    },
  })
}

/** One URL for several workloads: their tools, prompts and resources in one server. */
const endpoint: Plugin = {
  name: 'endpoint',
  needs: ['callers', 'groups', 'mcp', 'proxy', 'proxy-command', 'state', 'workloads'],
  uses: ['callerToken', 'groups', 'serverTools', 'workloadBridge', 'workloads', 'workloadStore'],
  commands: [EndpointCreate, EndpointEdit, EndpointExplain, EndpointList, EndpointStatus],
  services: { endpoints: async app => (await import('./endpoints.ts')).createEndpoints(app) },
  provides: { sections: [endpointSection], runtimes: [createRuntime] },
}
export default endpoint
