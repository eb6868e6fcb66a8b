import { PassThrough } from 'node:stream'
import type { App } from '../../../src/app.ts'
import type { Api, HttpEvent } from '../../../src/http/api.ts'
import { formatSse } from '../../../src/net/sse.ts'
import { createStatusFeed, type WorkloadEvent } from './status-feed.ts'
import type { StreamSlots } from './stream-slots.ts'
import { toItem } from './to-details.ts'

/** Keeps what stands between us and the reader from closing a quiet stream. */
const QUIET_MS = 15_000
/** A client with more unread bytes than this is disconnected. It reconnects and gets all workloads again. */
const BACKLOG_BYTES = 1_048_576

/**
 * `GET /events`: server-sent events (WHATWG HTML, section 9.2) that report changes of workloads, and
 * events of other plugins.
 */
export async function eventRoute(api: Api, app: App, slots: StreamSlots): Promise<void> {
  const store = await app.service('workloadStore')
  const feed = createStatusFeed({
    watch: store.watch,
    list: async () => (await app.service('workloads')).list({ all: true }),
    log: app.log,
  })

  api.operation({
    id: 'streamEvents',
    method: 'GET',
    path: '/api/v1beta/events',
    tag: 'workloads',
    summary:
      'All workloads as events `workload`, then `listed`, then one for every change, `workload-upgraded` and `workload-rolled-back` when an upgrade has ended, and `workload-removed` with the name of one that is gone',
    response: [200, 'events'],
    async handle({ signal }) {
      const giveBack = slots.take()
      const stream = new PassThrough()
      const write = (event: HttpEvent | undefined) => {
        if (stream.writableLength > BACKLOG_BYTES) stream.destroy()
        else stream.write(event ? toText(event) : ': quiet\n\n')
      }
      const quiet = setInterval(() => write(undefined), QUIET_MS)
      const leave: (() => void)[] = []
      const end = () => {
        if (!leave.length) return
        for (const stop of leave.splice(0)) stop()
        stream.end()
      }
      leave.push(giveBack, () => clearInterval(quiet))
      stream.once('close', end)
      stream.write(': hello\n\n')
      try {
        leave.push(await feed.subscribe(event => write(toEvent(event))))
        write({ name: 'listed', data: {} })
        for (const source of api.eventSources) leave.push(await source.subscribe(write))
      } catch (error) {
        end()
        throw error
      }
      signal.addEventListener('abort', end)
      if (signal.aborted || stream.destroyed) end()
      return stream
    },
  })
}

function toEvent(event: WorkloadEvent): HttpEvent {
  if (event.kind === 'workload') return { name: event.kind, data: toItem(event.workload) }
  const { kind, name } = event
  if (kind === 'workload-removed') return { name: kind, data: { name } }
  const { from, to, at, reason } = event.upgrade
  return { name: kind, data: { name, from, to, at, ...(reason ? { reason } : {}) } }
}

const toText = ({ name, data }: HttpEvent): string => formatSse({ event: name, data: JSON.stringify(data) })
