import type { Home } from '../../e2e/home.ts'
import { type ApiServer, startApi } from '../../support/api-server.ts'
import { until } from '../proxy/test-proxy.ts'
import { world } from './login-world.ts'

const path = '/api/v1beta/workloads'

/** `keelson serve` in a home. */
export const serveHome = (home: Home): Promise<ApiServer> =>
  startApi({
    user: { home: home.path, env: home.env, run: (args, options) => home.keelson(args, options) as never },
    args: ['--port', '0'],
  })

/** As `world`, with `keelson serve`. */
export async function httpWorld(options?: Parameters<typeof world>[0]) {
  const made = await world(options)
  const api = await serveHome(made.home)
  const item = async (name: string) => {
    const { workloads } = (await api.ask('GET', `${path}?all=true`)).json() as {
      workloads: { name: string; status: string; status_context?: string; url: string }[]
    }
    return workloads.find(workload => workload.name === name)
  }
  return {
    ...made,
    api,
    /** The workload as the list shows it. */
    item,
    untilIs: (name: string, status: string) => until(async () => (await item(name))?.status === status),
    create: (name: string, more: object = {}) =>
      api.ask('POST', path, { name, url: made.server.mcp, ...more }),
    details: async (name: string): Promise<Record<string, unknown>> =>
      (await api.ask('GET', `${path}/${name}`)).json(),
    login: (method: 'POST' | 'DELETE', name: string) => api.ask(method, `${path}/${name}/login`),
  }
}
