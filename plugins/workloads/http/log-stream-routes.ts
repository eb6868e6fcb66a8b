import { Readable } from 'node:stream'
import type { App } from '../../../src/app.ts'
import type { Api } from '../../../src/http/api.ts'
import { tailFile } from '../../../src/lib/tail-file.ts'
import { formatSse } from '../../../src/net/sse.ts'
import { workloadName } from '../../state/index.ts'
import type { StreamSlots } from './stream-slots.ts'

const LINES = 1000
const LAST_BYTES = 262_144

/** The logs again, going on with what comes: server-sent events (WHATWG HTML, section 9.2). */
export function logStreamRoutes(api: Api, app: App, slots: StreamSlots): void {
  const workloads = () => app.service('workloads')

  api.operation({
    id: 'streamWorkloadLogs',
    method: 'GET',
    path: '/api/v1beta/workloads/{name}/logs/stream',
    params: { name: workloadName },
    tag: 'workloads',
    summary:
      'The last lines that the server printed, and what it prints from now on, as JSON strings in events `log`; `end` when it printed its last',
    response: [200, 'events'],
    failures: [400, 404, 502, 503],
    async handle({ params: { name }, signal }) {
      const log = await (await workloads()).logs(name, { lines: LINES, follow: true, signal })
      return toEvents(log, signal, slots)
    },
  })

  api.operation({
    id: 'streamWorkloadProxyLogs',
    method: 'GET',
    path: '/api/v1beta/workloads/{name}/proxy-logs/stream',
    params: { name: workloadName },
    tag: 'workloads',
    summary:
      'The last lines that the proxy logged, and what it logs from now on, as the events of `/logs/stream`',
    response: [200, 'events'],
    failures: [400, 404],
    async handle({ params: { name }, signal }) {
      const path = await (await workloads()).proxyLog(name)
      return toEvents(tailFile(path, { follow: true, signal, lastBytes: LAST_BYTES }), signal, slots)
    },
  })
}

/** Reads no faster than the caller does; what is opened is closed when the caller goes away. */
function toEvents(log: AsyncIterable<Buffer>, signal: AbortSignal, slots: StreamSlots): Readable {
  const giveBack = slots.take()
  const stream = Readable.from(events(log, signal))
  stream.once('close', giveBack)
  return stream
}

async function* events(log: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<string> {
  yield ': hello\n\n' // headers go out with the first bytes, and a quiet server has none
  const decoder = new TextDecoder()
  try {
    for await (const chunk of log) {
      const text = decoder.decode(chunk, { stream: true })
      yield formatSse({ event: 'log', data: JSON.stringify(text) })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  yield formatSse({ event: 'end', data: '{}' })
}
