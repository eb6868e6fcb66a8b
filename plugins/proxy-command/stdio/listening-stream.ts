import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../src/errors.ts'
import { eventsOf, isEventStream, LEAST_PAUSE_MS } from './response-messages.ts'
import { headersOf, type SessionState } from './streamable-session.ts'
import type { UpstreamOptions } from './upstream.ts'

const LONGEST_PAUSE_MS = 5000
/** How long a message waits for a stream that has never been open, in milliseconds. */
const FIRST_MS = 2000
/** The same for a stream that was open before: the server has one, but may be starting again. */
const AGAIN_MS = 30_000

/** The event stream of a session, by which a server speaks first. It is kept open until the signal aborts. */
export interface ListeningStream {
  /**
   * Resolves when the stream is open, when an attempt to open it has failed, or when that takes long. A server
   * that is asked something before may respond with a question that nobody would hear. Ends a pause, unless the
   * server wants it.
   */
  ready(): Promise<void>
  /** `lost`: the workload has lost the session; `none`: it has no such stream. Rejects when the signal aborts. */
  readonly outcome: Promise<'lost' | 'none'>
}

export function listenTo(
  session: SessionState,
  { requests, client, log }: Pick<UpstreamOptions, 'requests' | 'client' | 'log'>,
  signal: AbortSignal,
): ListeningStream {
  let last: string | undefined
  let pause = LEAST_PAUSE_MS
  /** The pause that the server wants after this connection, in milliseconds. */
  let wanted: number | undefined
  let opened: number | undefined
  let wasOpen = false
  let attempt = startAttempt(FIRST_MS)
  let endPause = new AbortController()

  /** One connection. Undefined: it ended, and another one may be opened. */
  async function connect(): Promise<'lost' | 'none' | undefined> {
    const resume = last === undefined ? {} : { 'last-event-id': last }
    const headers = { accept: 'text/event-stream', ...headersOf(session), ...resume }
    const response = await requests.send({ method: 'GET', headers, signal })
    if (response.statusCode === 200 && isEventStream(response)) {
      opened = performance.now()
      wasOpen = true
      attempt.end()
      for await (const { data, id, retry } of eventsOf(response)) {
        last = id ?? last
        wanted = retry ?? wanted
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

  /** The pause grows while connections end soon. */
  async function rest(): Promise<void> {
    if (opened !== undefined && performance.now() - opened > LONGEST_PAUSE_MS) pause = LEAST_PAUSE_MS
    const time = wanted === undefined ? pause : Math.max(wanted, LEAST_PAUSE_MS)
    const ends = AbortSignal.any([endPause.signal, signal])
    await delay(Math.min(time, LONGEST_PAUSE_MS), undefined, { signal: ends }).catch(() => undefined)
    signal.throwIfAborted()
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }

  async function keepOpen(): Promise<'lost' | 'none'> {
    for (;;) {
      wanted = undefined
      opened = undefined
      try {
        const outcome = await connect()
        if (outcome) return outcome
      } catch (error) {
        signal.throwIfAborted()
        log.debug(`The event stream of the workload broke: ${messageOf(error)}`)
      }
      attempt.end()
      attempt = startAttempt(AGAIN_MS)
      endPause = new AbortController()
      await rest()
    }
  }

  return {
    outcome: keepOpen().finally(() => attempt.end()),
    async ready() {
      if (wanted !== undefined) return
      endPause.abort()
      await attempt.ended
    },
  }
}

/** An attempt to open the stream, which messages wait for until it has ended or the time is over. */
function startAttempt(mostMs: number): { ended: Promise<void>; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, mostMs).unref()
  const end = () => {
    clearTimeout(timer)
    resolve()
  }
  return { ended: promise, end }
}
