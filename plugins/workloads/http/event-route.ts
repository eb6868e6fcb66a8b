import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { App } from '../../../src/app.ts'
import type { Api } from '../../../src/http/api.ts'
import { createStatusFeed, type WorkloadEvent } from './status-feed.ts'
import type { StreamSlots } from './stream-slots.ts'
import { toItem } from './to-details.ts'

/** Keeps what stands between us and the reader from closing a quiet stream. */
const QUIET_MS = 15_000
/** A reader that is further behind than this is let go; it comes back and hears everything anew. */
const BACKLOG_BYTES = 1_048_576

/** `GET /events`: server-sent events (WHATWG HTML, section 9.2) that tell what happens to workloads. */
export function eventRoute(api: Api, app: App, slots: StreamSlots): void {
  const feed = createStatusFeed({
    folders: [join(app.paths.data, 'statuses'), join(app.paths.state, 'runconfigs')],
    list: async () => (await app.service('workloads')).list({ all: true }),
    log: app.log,
  })

  api.operation({
    id: 'streamEvents',
    method: 'GET',
    path: '/api/v1beta/events',
    area: 'workloads',
    summary:
      'All workloads as events `workload`, then `listed`, then one for every change, and `workload-removed` with the name of one that is gone',
    answer: [200, 'events'],
    async handle({ signal }) {
      const giveBack = slots.take()
      const stream = new PassThrough()
      const write = (text: string) => {
        if (stream.writableLength > BACKLOG_BYTES) stream.destroy()
        else stream.write(text)
      }
      const quiet = setInterval(() => write(': quiet\n\n'), QUIET_MS)
      write(': hello\n\n')
      const leave = await feed.subscribe(event => write(toText(event)))
      write('event: listed\ndata: {}\n\n')
      let over = false
      const end = () => {
        if (over) return
        over = true
        giveBack()
        clearInterval(quiet)
        leave()
        stream.end()
      }
      stream.once('close', end)
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
      return stream
    },
  })
}

const toText = (event: WorkloadEvent): string => {
  const data = event.kind === 'workload' ? toItem(event.workload) : { name: event.name }
  return `event: ${event.kind}\ndata: ${JSON.stringify(data)}\n\n`
}
