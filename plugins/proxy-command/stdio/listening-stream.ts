import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/errors.ts'
import { eventsOf, isEventStream, LEAST_PAUSE_MS } from './response-messages.ts'
import { headersOf, type SessionState } from './streamable-session.ts'
import type { UpstreamOptions } from './upstream.ts'

const PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 5000

/**
 * Keeps the event stream of a session open, by which a server speaks first, until the signal aborts. Resolves
 * with `lost` when the workload has lost the session, and with `none` when it has no such stream.
 */
export async function listenTo(
  session: SessionState,
  { requests, client, log }: Pick<UpstreamOptions, 'requests' | 'client' | 'log'>,
  signal: AbortSignal,
): Promise<'lost' | 'none'> {
  let last: string | undefined
  let pause = PAUSE_MS
  let wasOpen = false

  /** One connection. Undefined: it ended, and another one may be opened. */
  async function connect(): Promise<'lost' | 'none' | undefined> {
    const resume = last === undefined ? {} : { 'last-event-id': last }
    const headers = { accept: 'text/event-stream', ...headersOf(session), ...resume }
    const response = await requests.send({ method: 'GET', headers, signal })
    if (response.statusCode === 200 && isEventStream(response)) {
      pause = PAUSE_MS
      wasOpen = true
      for await (const { data, id, retry } of eventsOf(response)) {
        last = id ?? last
        pause = Math.max(retry ?? pause, LEAST_PAUSE_MS)
        if (data) await client.deliver(data)
      }
      return undefined
    }
    await response.body.dump()
    // Many servers say so of a stream that they do not have; a new session would have none either.
    if (response.statusCode === 404 && session.id !== undefined) return wasOpen ? 'lost' : 'none'
    if (response.statusCode >= 500) return undefined
    if (last === undefined) return 'none'
    last = undefined // the events are gone; the stream goes on without them
    return undefined
  }

  for (;;) {
    try {
      const outcome = await connect()
      if (outcome) return outcome
    } catch (error) {
      signal.throwIfAborted()
      log.debug(`The event stream of the workload broke: ${messageOf(error)}`)
    }
    await delay(Math.min(pause, LONGEST_PAUSE_MS), undefined, { signal })
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
}
