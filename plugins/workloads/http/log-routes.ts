import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { App } from '../../../src/app.ts'
import type { Api } from '../../../src/http/api.ts'
import { isMissing } from '../../../src/lib/atomic-file.ts'
import { workloadName } from '../../state/index.ts'
import { failures } from '../failures.ts'

const LINES = 1000

/** What a server, and its proxy, have printed last. */
export function logRoutes(api: Api, app: App): void {
  api.operation({
    id: 'getWorkloadLogs',
    method: 'GET',
    path: '/api/v1beta/workloads/{name}/logs',
    params: { name: workloadName },
    tag: 'workloads',
    summary: 'The last lines that the server printed',
    response: [200, 'text'],
    failures: [400, 404, 502, 503],
    async handle({ params: { name }, signal }) {
      return text(await (await app.service('workloads')).logs(name, { lines: LINES, signal }))
    },
  })

  api.operation({
    id: 'getWorkloadProxyLogs',
    method: 'GET',
    path: '/api/v1beta/workloads/{name}/proxy-logs',
    params: { name: workloadName },
    tag: 'workloads',
    summary: 'The last lines that the proxy logged',
    response: [200, 'text'],
    failures: [400, 404],
    async handle({ params: { name } }) {
      const path = await (await app.service('workloads')).proxyLog(name)
      const log = await readFile(path, 'utf8').catch(error => {
        if (isMissing(error)) throw failures.proxy_log_missing({ name })
        throw error
      })
      return lastLines(log)
    },
  })
}

const lastLines = (log: string): string => {
  const lines = log.split('\n')
  return lines.slice(-LINES - 1).join('\n')
}
