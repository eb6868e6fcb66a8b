import type { HttpHost } from '../../src/http/http-host.ts'
import { anything, closed, integer, list, object } from '../../src/lib/schema.ts'

const nothing = list(anything)
const page = object({ total: integer, page: integer, limit: integer }, closed)

/** ToolHive's lists of plugins for clients. keelson has none; an empty list keeps its applications from showing an error. */
export function pluginRoutes(http: HttpHost): void {
  http.operation({
    id: 'listPlugins',
    method: 'GET',
    path: '/api/v1beta/plugins',
    tag: 'plugins',
    summary: 'Always empty: plugins of clients are not managed here',
    response: [200, object({ plugins: nothing }, closed)],
    handle: () => ({ plugins: [] }),
  })
  http.operation({
    id: 'listPluginBuilds',
    method: 'GET',
    path: '/api/v1beta/plugins/builds',
    tag: 'plugins',
    summary: 'Always empty: plugins of clients are not built here',
    response: [200, object({ builds: nothing }, closed)],
    handle: () => ({ builds: [] }),
  })
  http.operation({
    id: 'listRegistryPlugins',
    method: 'GET',
    path: '/registry/{registryName}/v0.1/x/dev.toolhive/plugins',
    tag: 'plugins',
    summary: 'Always empty: plugins of clients are not listed here',
    response: [200, object({ plugins: nothing, metadata: page }, closed)],
    style: 'json',
    handle: () => ({ plugins: [], metadata: { total: 0, page: 1, limit: 50 } }),
  })
}
