import type { ServerResponse } from 'node:http'
import { formatSse } from '../../../../src/net/sse.ts'
import type { FlowControl } from '../clients/flow-control.ts'

/** One event, kept until the client has received it. */
export interface StoredEvent {
  readonly stream: EventStream
  readonly number: number
  readonly text: string
  readonly at: number
  sent: boolean
}

/**
 * A `text/event-stream` that can be resumed after its connection broke.
 *
 * A connection remembers the next event and writes as its socket drains. A slow client costs one buffered
 * event, and a client that reconnects continues where it stopped.
 */
export interface EventStream {
  readonly id: string
  /** Whether a client is connected. */
  readonly connected: boolean
  /** Whether the last event has been pushed. */
  readonly finished: boolean
  /** Number of the newest event; 0 before the first. */
  readonly last: number
  push(text: string): void
  /** No event follows; the connection ends after the last one. */
  finish(): void
  /** Sends the events after number `after` to a response whose headers are written. */
  connect(response: ServerResponse, options: { after: number; prime: boolean }): void
  /** A comment that keeps the connection open. */
  keepAlive(): void
  /** Ends the connection; the events stay. */
  disconnect(): void
  /** Removes an event. A connection that has not received it is cut, so that its client notices the gap. */
  evict(event: StoredEvent): void
  /** Removes and returns the messages that have not been sent. */
  takeUnsent(): string[]
}

/** Called for every event, so that an owner can limit how many are kept. */
export interface EventObserver {
  added(event: StoredEvent): void
  sent(event: StoredEvent): void
  removed(event: StoredEvent): void
}

export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** How long a client waits before it reconnects, in milliseconds (SEP-1699 requires a `retry`). */
const RETRY_MS = 1000

/** A client of a stream, which has the events before `next`. */
interface Connection {
  readonly response: ServerResponse
  next: number
  blocked: boolean
  /** Of the events that it does not have. */
  bytes: number
  /** Whether it has been waited for since it had everything. */
  waited: boolean
  onStalled(): void
}

const toSse = ({ stream, number, text }: StoredEvent, ids: boolean): string =>
  formatSse({ event: 'message', ...(ids ? { id: `${stream.id}_${number}` } : {}), data: text })

/**
 * It is long because all of it reads and changes the one connection of the stream.
 *
 * @param options.ids whether events carry ids; without them nothing can be resumed and nothing is kept
 * @param options.onDisconnect called when a client disconnects, but not at the end of the stream
 */
export function createEventStream(options: {
  id: string
  ids: boolean
  observer?: EventObserver
  flow: FlowControl
  now: () => number
  onDisconnect?: () => void
}): EventStream {
  const { id, ids, observer, flow, now, onDisconnect } = options
  const events = new Map<number, StoredEvent>()
  let last = 0
  let finished = false
  let connection: Connection | undefined

  function forget(event: StoredEvent): void {
    if (events.delete(event.number)) observer?.removed(event)
  }

  function detach(): ServerResponse | undefined {
    const before = connection
    connection = undefined
    if (before) flow.caughtUp(before)
    return before?.response
  }

  /** Cuts the connection, so that its client notices that events are missing. */
  function cut(): void {
    detach()?.destroy()
    onDisconnect?.()
  }

  /** Writes the events that the client has not received, as far as its socket takes them. */
  function pump(): void {
    const to = connection
    if (!to) return
    while (!to.blocked && to.next <= last) {
      const event = events.get(to.next)
      to.next += 1
      if (!event) continue
      to.bytes -= event.text.length
      to.blocked = !to.response.write(toSse(event, ids), 'latin1')
      if (!event.sent) {
        event.sent = true
        observer?.sent(event)
      }
      if (!ids) forget(event)
    }
    if (to.next > last) {
      if (to.waited) flow.caughtUp(to)
      to.waited = false
      if (finished && !to.blocked) detach()?.end()
    } else if (!to.waited && flow.isBehind(last - to.next + 1, to.bytes)) {
      to.waited = true
      flow.behind(to)
    }
  }

  const stream: EventStream = {
    id,
    get connected() {
      return connection !== undefined
    },
    get finished() {
      return finished
    },
    get last() {
      return last
    },
    push(text) {
      last += 1
      const event: StoredEvent = { stream, number: last, text, at: now(), sent: false }
      events.set(last, event)
      if (connection) connection.bytes += text.length
      observer?.added(event)
      pump()
    },
    finish() {
      finished = true
      pump()
    },
    connect(response, { after, prime }) {
      stream.disconnect()
      // Its `close` has been, and does not come again.
      if (response.destroyed) return onDisconnect?.()
      let bytes = 0
      for (const event of events.values()) if (event.number > after) bytes += event.text.length
      const mine: Connection = {
        response,
        next: after + 1,
        blocked: false,
        bytes,
        waited: false,
        onStalled() {
          // Nothing else limits the events of a stream without an observer.
          if (!observer && connection === mine) cut()
        },
      }
      connection = mine
      response.on('drain', () => {
        mine.blocked = false
        if (connection === mine) pump()
      })
      response.on('close', () => {
        if (connection !== mine) return
        detach()
        onDisconnect?.()
      })
      // An event with an id and no data gives the client something to resume from before the first message.
      if (prime && ids) response.write(`id: ${id}_${after}\nretry: ${RETRY_MS}\ndata: \n\n`, 'latin1')
      pump()
    },
    keepAlive() {
      if (connection && !connection.blocked) connection.response.write(': keepalive\n\n')
    },
    disconnect: () => void detach()?.end(),
    evict(event) {
      const unread = connection !== undefined && event.number >= connection.next
      forget(event)
      if (unread) cut()
    },
    takeUnsent() {
      const unsent = [...events.values()].filter(event => !event.sent)
      for (const event of unsent) forget(event)
      return unsent.map(event => event.text)
    },
  }
  return stream
}
