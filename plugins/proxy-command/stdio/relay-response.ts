import { setTimeout as delay } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { Call } from './calls.ts'
import { eventsOf, isEventStream, LEAST_PAUSE_MS } from './response-messages.ts'
import { headersOf, type SessionState, type StreamableSession } from './streamable-session.ts'
import type { UpstreamOptions } from './upstream.ts'
import { LOST } from './workload-requests.ts'

/** How long to wait before a broken stream is resumed, in milliseconds, if the server does not say. */
const RESUME_MS = 1000

/** Delivers what comes for a call until its response has come. Throws when the response cannot come any more. */
export type RelayResponse = (call: Call, first: Dispatcher.ResponseData, used: SessionState) => Promise<void>

/** A broken event stream is resumed if the server gave its events ids. */
export function createRelayResponse(
  { requests, client, calls }: Pick<UpstreamOptions, 'requests' | 'client' | 'calls'>,
  session: StreamableSession,
): RelayResponse {
  async function resume(
    last: string,
    { pause, used, signal }: { pause: number; used: SessionState; signal: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    await delay(pause, undefined, { signal })
    const headers = { accept: 'text/event-stream', ...headersOf(used), 'last-event-id': last }
    const response = await requests.send({ method: 'GET', headers, signal })
    if (response.statusCode === 200 && isEventStream(response)) return response
    await response.body.dump()
    if (response.statusCode === 404) void session.renew(used)
    throw new Error(LOST)
  }

  return async (call, first, used) => {
    const { signal } = call.abort
    let last: string | undefined
    let pause = RESUME_MS
    let response = first
    for (;;) {
      try {
        for await (const { data, id, retry } of eventsOf(response)) {
          last = id ?? last
          pause = Math.max(retry ?? pause, LEAST_PAUSE_MS)
          if (data) await client.deliver(data)
        }
      } catch (error) {
        signal.throwIfAborted()
        if (!isEventStream(response)) throw new Error(LOST, { cause: error })
      }
      if (calls.find(call.idText) !== call) return
      if (last === undefined || call.modern) throw new Error(LOST)
      response = await resume(last, { pause, used, signal })
    }
  }
}
