import type { BridgeLimits } from '../bridge-limits.ts'
import type { EventObserver, StoredEvent } from './event-stream.ts'

/** Limits the events that are kept, for each session and for all sessions together. */
export interface EventBudget {
  /** Observes the events of one session's streams. */
  forSession(): EventObserver & { close(): void }
  /** Removes sent events that are too old to be asked for again. */
  sweep(): void
  readonly bytes: number
}

interface EventPool {
  readonly sent: Set<StoredEvent>
  readonly unsent: Set<StoredEvent>
  bytes: number
}

const createEventPool = (): EventPool => ({ sent: new Set(), unsent: new Set(), bytes: 0 })

function addUnsent(pool: EventPool, event: StoredEvent): void {
  pool.unsent.add(event)
  pool.bytes += event.text.length
}
function markSent(pool: EventPool, event: StoredEvent): void {
  if (pool.unsent.delete(event)) pool.sent.add(event)
}
function removeFrom(pool: EventPool, event: StoredEvent): void {
  if (pool.sent.delete(event) || pool.unsent.delete(event)) pool.bytes -= event.text.length
}
/** The event to drop first: the oldest that was sent, else the oldest. */
const oldest = (pool: EventPool): StoredEvent | undefined => {
  for (const event of pool.sent) return event
  for (const event of pool.unsent) return event
  return undefined
}

/** `onLost` is called for a dropped event that was not sent to a client. The newest event is always kept. */
export function createEventBudget(options: {
  limits: BridgeLimits
  now: () => number
  onLost: (event: StoredEvent) => void
}): EventBudget {
  const { limits, now, onLost } = options
  const total = createEventPool()

  function drop(event: StoredEvent): void {
    const { sent } = event
    event.stream.evict(event)
    if (!sent) onLost(event)
  }

  return {
    get bytes() {
      return total.bytes
    },
    forSession() {
      const own = createEventPool()
      return {
        added(event) {
          addUnsent(own, event)
          addUnsent(total, event)
          while (
            own.sent.size + own.unsent.size > 1 &&
            (own.sent.size + own.unsent.size > limits.maxEvents || own.bytes > limits.maxEventBytes)
          ) {
            const victim = oldest(own)
            if (victim) drop(victim)
          }
          while (total.bytes > limits.maxTotalEventBytes && total.sent.size + total.unsent.size > 1) {
            const victim = oldest(total)
            if (victim) drop(victim)
          }
        },
        sent(event) {
          markSent(own, event)
          markSent(total, event)
        },
        removed(event) {
          removeFrom(own, event)
          removeFrom(total, event)
        },
        close() {
          for (const event of [...own.sent, ...own.unsent]) event.stream.evict(event)
        },
      }
    },
    sweep() {
      const limit = now() - limits.keepEventsMs
      for (const event of total.sent) {
        if (event.at > limit) break
        event.stream.evict(event)
      }
    },
  }
}
