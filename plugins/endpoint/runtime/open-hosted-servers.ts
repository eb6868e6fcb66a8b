import type { App } from '../../../src/app.ts'
import type { RunConfig } from '../../../src/contracts/run-config.ts'
import { openComposite } from '../composite/open-composite.ts'
import type { Member } from '../members/members.ts'
import { readMembers, toMember } from '../members/read-members.ts'
import { watchMembers } from '../members/watch-members.ts'
import type { EndpointSettings } from '../section.ts'
import { createWays } from '../server/carry-to.ts'
import { limitsOf } from '../server/deadline.ts'
import { createEndpointServer } from '../server/endpoint-server.ts'
import { createMemberAgent } from '../server/member-agent.ts'
import type { OpenOwnTools } from '../server/own-tools.ts'
import { createStepWay } from '../server/step-way.ts'
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
    const [config, { state, release }] = await Promise.all([store.configs.get(name), states.of(name)])
    const { members } = state
    const { endpoint = {} } = config
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
            openOwnTools: openComposites(endpoint, { self: toSelf(config), wayTo, proxies, login }),
          }),
      })
  }
}

/** The endpoint as a server: it runs, as it has a client. */
const toSelf = (config: RunConfig): Member => ({ ...toMember(config, undefined), status: 'running' })

/** What makes the composite tools of an endpoint; undefined where it has none. */
function openComposites(
  { composite_tools: workflows = [] }: EndpointSettings,
  way: Parameters<typeof createStepWay>[0],
): OpenOwnTools | undefined {
  return workflows.length > 0 ? openComposite(workflows, createStepWay(way)) : undefined
}
