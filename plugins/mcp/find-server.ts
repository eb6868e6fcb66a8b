import type { App } from '../../src/app.ts'
import { failures as core } from '../../src/errors.ts'
import { callerHeaders } from '../callers/index.ts'
import type { ServerAddress } from './connect.ts'
import { failures } from './failures.ts'

/** Where a server is: a URL as it is, or a running workload by name. Fails with `workload_missing`, `mcp_server_stopped`. */
export async function findServer(
  app: App,
  server: string,
  transport: ServerAddress['transport'],
): Promise<ServerAddress> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(server)) return { url: parseUrl(server), transport }
  const workload = await (await app.service('workloads')).get(server)
  if (workload.status !== 'running')
    throw failures.mcp_server_stopped({
      name: server,
      status: workload.status,
      reason: workload.status_context,
    })
  return {
    url: parseUrl(workload.url),
    workload: server,
    transport: transport === 'auto' ? workload.proxy_mode : transport,
    headers: callerHeaders(await (await app.service('callerToken')).required()),
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.username || url?.password) {
    throw core.usage({
      text: 'The URL of --server contains a user name or password, which MCP clients cannot send.',
      hint: 'Run it as a workload with a login or a header (`keelson run --help`), and name that workload.',
    })
  }
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw core.usage({ text: `--server takes an http or https URL, or the name of a workload, not "${text}".` })
}
