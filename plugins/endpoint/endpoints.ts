import type { App } from '../../src/app.ts'
import { SCHEMA_VERSION, toInstanceName } from '../../src/contracts/run-config.ts'
import type { Workload } from '../../src/contracts/workload.ts'
import { checkSections } from '../../src/sections.ts'
import { failures } from './failures.ts'
import type { Member } from './members/members.ts'
import { readMembers } from './members/read-members.ts'
import { ENDPOINT_RUNTIME, type EndpointSettings, isEndpoint } from './section.ts'

/** An endpoint, with the servers behind it. */
export interface Endpoint {
  readonly workload: Workload
  readonly settings: EndpointSettings
  readonly members: readonly Member[]
}

/** All rules about endpoints. What is true of all workloads (`stop`, `rm` …) is in `workloads`. */
export interface Endpoints {
  /** Fails as `create` does, where the servers or the group of the settings are not there. */
  assertMembers(settings: EndpointSettings): Promise<void>
  /**
   * Makes an endpoint and starts it. Fails with `workload_exists`, `workload_missing`, `endpoint_of_endpoint` and
   * `group_unknown`.
   */
  create(name: string, settings: EndpointSettings, options: CreateOptions): Promise<Endpoint>
  /**
   * Changes the settings that are given; a group replaces servers, and servers a group. Restarts the endpoint, so that
   * clients begin new sessions. Fails with `endpoint_unknown` and as `create` does.
   */
  edit(name: string, change: Partial<EndpointSettings>): Promise<Endpoint>
  list(): Promise<Endpoint[]>
  /** Fails with `workload_missing` and `endpoint_unknown`. */
  get(name: string): Promise<Endpoint>
}

export interface CreateOptions {
  /** Undefined: any free one. */
  readonly port: number | undefined
  readonly signal: AbortSignal
}

/** How many clients an endpoint serves at the same time. */
const MOST_CLIENTS = 1000

export function createEndpoints(app: App): Endpoints {
  const services = async () =>
    Promise.all([app.service('workloads'), app.service('workloadStore'), app.service('groups')])

  async function assertMembers({ group, servers = [] }: EndpointSettings): Promise<void> {
    const [, store, groups] = await services()
    if (group !== undefined) await groups.assertExists(group)
    for (const server of servers) {
      if (isEndpoint(await store.configs.get(server))) throw failures.endpoint_of_endpoint({ server })
    }
  }

  async function get(name: string): Promise<Endpoint> {
    const [workloads, store] = await services()
    const config = await store.configs.get(name)
    if (!config.endpoint) throw failures.endpoint_unknown({ name })
    return {
      workload: await workloads.get(name),
      settings: config.endpoint,
      members: await readMembers(store, config.endpoint),
    }
  }

  return {
    assertMembers,
    async create(name, settings, { port, signal }) {
      await assertMembers(settings)
      const [workloads] = await services()
      await workloads.run(
        {
          schema_version: SCHEMA_VERSION,
          name,
          base_name: name,
          container_name: toInstanceName(name),
          runtime: ENDPOINT_RUNTIME,
          image: ENDPOINT_RUNTIME,
          ...placeOf(settings),
          transport: 'stdio',
          proxy_mode: 'streamable-http',
          port: port ?? 0,
          isolate_network: false,
          sessions: 'per-client',
          max_processes: MOST_CLIENTS,
          max_processes_per_caller: MOST_CLIENTS,
          endpoint: settings,
        },
        { portIsGiven: port !== undefined, signal },
      )
      return get(name)
    },
    async edit(name, change) {
      await get(name)
      await assertMembers(change)
      const [workloads, store] = await services()
      const before = await store.configs.get(name)
      const { group, servers, ...others } = before.endpoint ?? {}
      const behind = change.group === undefined && change.servers === undefined ? { group, servers } : {}
      const endpoint = withoutUndefined({ ...others, ...behind, ...change })
      const after = { ...before, ...placeOf(endpoint), endpoint }
      await checkSections(app, after)
      await workloads.edit(before, after)
      return get(name)
    },
    async list() {
      const [, store] = await services()
      const configs = (await store.configs.list()).filter(isEndpoint)
      return Promise.all(configs.map(({ name }) => get(name)))
    },
    get,
  }
}

/** The endpoint of a group is in that group, so that its clients see it. */
const placeOf = ({ group }: EndpointSettings) =>
  group === undefined ? { source: 'endpoint' } : { source: `group ${group}`, group }

const withoutUndefined = (settings: EndpointSettings | Record<string, unknown>): EndpointSettings =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
