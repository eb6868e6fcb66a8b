import type { ServerResponse } from 'node:http'
import type { BridgeLimits } from '../bridge-limits.ts'
import type { FlowControl } from '../clients/flow-control.ts'
import type { EventBudget } from './event-budget.ts'
import { createEventStream, type EventStream } from './event-stream.ts'

/** The event streams of one session: one for each request, and standalone ones for all other messages. */
export interface Outbox {
  /** A stream for the messages of one request. */
  openForRequest(): EventStream
  /** Sends on a standalone stream. While none is open, the message is kept for the next one. */
  send(text: string): void
  /** Opens another standalone stream, which gets the messages that were kept. */
  open(response: ServerResponse, options: { prime: boolean }): void
  /** Resumes a broken stream. `unknown`: the event id is unknown; `complete`: the client has all events. */
  resume(
    response: ServerResponse,
    lastEventId: string,
    options: { writeHead: () => void; prime: boolean },
  ): 'resumed' | 'unknown' | 'complete'
  /** Whether a standalone stream is open. */
  readonly listening: boolean
  /** Whether any stream is open. */
  readonly connected: boolean
  /** Sends a keep-alive comment on every open stream. */
  keepAlive(): void
  /** Removes streams that can no longer be resumed. */
  sweep(): void
  /** Ends all connections and removes all events. */
  close(): void
}

/** `ids: false` is for the deprecated SSE transport, which cannot resume. */
export function createOutbox(options: {
  budget: EventBudget
  flow: FlowControl
  limits: BridgeLimits
  now: () => number
  ids: boolean
  /** A standalone stream was closed by its client. */
  onClosed?: () => void
}): Outbox {
  const { budget, flow, limits, now, ids, onClosed } = options
  const observer = budget.forSession()
  const streams = new Map<string, { stream: EventStream; standalone: boolean; until: number }>()
  let counter = 0

  function create(standalone: boolean, onDisconnect?: () => void): EventStream {
    counter += 1
    const id = `${standalone ? 's' : 'r'}${counter}`
    const stream = createEventStream({
      id,
      ids,
      observer,
      flow,
      now,
      ...(onDisconnect ? { onDisconnect } : {}),
    })
    streams.set(id, { stream, standalone, until: 0 })
    return stream
  }

  /** Keeps the messages that arrive while no standalone stream is open, for the next connection. */
  let waiting = create(true, onClosed)
  const standalone = () => [...streams.values()].flatMap(entry => (entry.standalone ? [entry.stream] : []))
  const newestOpen = () => standalone().findLast(stream => stream.connected)

  /** Moves what broken standalone streams and the waiting one have not sent, oldest first. */
  function gather(into: EventStream): void {
    for (const stream of standalone()) {
      if (stream === into || stream.connected) continue
      for (const text of stream.takeUnsent()) into.push(text)
    }
  }

  return {
    openForRequest: () => create(false),
    send(text) {
      const stream = newestOpen() ?? waiting
      stream.push(text)
    },
    open(response, { prime }) {
      const open = standalone().filter(stream => stream.connected)
      if (open.length >= limits.maxStreams) open[0]?.disconnect()
      const stream = create(true, onClosed)
      gather(stream)
      stream.connect(response, { after: 0, prime })
    },
    resume(response, lastEventId, { writeHead, prime }) {
      const [, id = '', number = ''] = /^([rs]\d+)_(\d+)$/.exec(lastEventId) ?? []
      const entry = streams.get(id)
      const after = Number(number)
      if (!entry || after > entry.stream.last) return 'unknown'
      if (entry.stream.finished && after === entry.stream.last) return 'complete'
      writeHead()
      if (entry.standalone) gather(entry.stream)
      entry.stream.connect(response, { after, prime })
      return 'resumed'
    },
    get listening() {
      return newestOpen() !== undefined
    },
    get connected() {
      return streams.values().some(entry => entry.stream.connected)
    },
    keepAlive() {
      for (const { stream } of streams.values()) stream.keepAlive()
    },
    sweep() {
      for (const [id, entry] of streams) {
        const done = entry.standalone ? entry.stream !== waiting : entry.stream.finished
        if (!done || entry.stream.connected) entry.until = 0
        else if (entry.until === 0) entry.until = now() + limits.keepEventsMs
        else if (entry.until <= now()) {
          if (entry.standalone) for (const text of entry.stream.takeUnsent()) waiting.push(text)
          streams.delete(id)
        }
      }
    },
    close() {
      for (const { stream } of streams.values()) stream.disconnect()
      streams.clear()
      observer.close()
      waiting = create(true)
    },
  }
}
