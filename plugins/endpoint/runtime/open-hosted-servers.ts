import type { App } from '../../../src/app.ts'
import { readMembers } from '../members/read-members.ts'
import { watchMembers } from '../members/watch-members.ts'
import { createWays } from '../server/carry-to.ts'
import { limitsOf } from '../server/deadline.ts'
import { createEndpointServer } from '../server/endpoint-server.ts'
import { createMemberAgent } from '../server/member-agent.ts'
import { createHostedServer, type HostedServer } from './hosted-server.ts'
import { createSharedStates } from './shared-state.ts'

/** Makes what opens the server of a client for the endpoint of a name. */
export async function openHostedServers(
  app: App,
): Promise<(endpoint: string) => Promise<(send: (text: string) => boolean) => HostedServer>> {
  const [store, proxies, wayTo] = await Promise.all([
    app.service('workloadStore'),
    app.service('proxies'),
    createWays(app),
  ])
  const states = createSharedStates({
    watchFor: endpoint =>
      watchMembers({
        watch: store.watch,
        read: async () => readMembers(store, (await store.configs.get(endpoint)).endpoint ?? {}),
      }),
    createAgent: members => createMemberAgent({ members, proxies, caller: () => undefined }),
  })
  return async name => {
    const [{ endpoint = {} }, { state, release }] = await Promise.all([
      store.configs.get(name),
      states.of(name),
    ])
    const { members } = state
    const naming = endpoint.naming ?? 'prefix'
    const marksServers = (endpoint.tool_mode ?? 'all') !== 'all'
    return send =>
      createHostedServer({
        shared: state,
        release,
        createAgent: login => createMemberAgent({ members, proxies, caller: () => login()?.caller }),
        open: ({ login, agent }) =>
          createEndpointServer({
            ...{ name, naming, marksServers, members, shared: state, send, log: app.log },
            authorization: () => login()?.authorization,
            limitsOf: server => limitsOf(endpoint, server),
            carryTo: member => streams => wayTo(member, { members, login, agent: agent() })(streams),
          }),
      })
  }
}
