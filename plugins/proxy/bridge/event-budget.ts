import type { BridgeLimits } from './bridge-limits.ts'
import type { EventKeeper, StoredEvent } from './event-stream.ts'

/** Bounds the events that are kept, for each session and over all of them. */
export interface EventBudget {
  /** A keeper for the streams of one session. */
  keeper(): EventKeeper & { close(): void }
  /** Forgets sent events that are too old to be asked for. */
  sweep(): void
  readonly bytes: number
}

interface Shelf {
  readonly sent: Set<StoredEvent>
  readonly unsent: Set<StoredEvent>
  bytes: number
}

const createShelf = (): Shelf => ({ sent: new Set(), unsent: new Set(), bytes: 0 })

function put(shelf: Shelf, event: StoredEvent): void {
  shelf.unsent.add(event)
  shelf.bytes += event.text.length
}
function move(shelf: Shelf, event: StoredEvent): void {
  if (shelf.unsent.delete(event)) shelf.sent.add(event)
}
function take(shelf: Shelf, event: StoredEvent): void {
  if (shelf.sent.delete(event) || shelf.unsent.delete(event)) shelf.bytes -= event.text.length
}
/** What goes first: the oldest that was sent, else the oldest. */
const oldest = (shelf: Shelf): StoredEvent | undefined => {
  for (const event of shelf.sent) return event
  for (const event of shelf.unsent) return event
  return undefined
}

/** `onLost` hears of an event that no client was ever sent. The newest event is always kept, whatever its size. */
export function createEventBudget(options: {
  limits: BridgeLimits
  now: () => number
  onLost: (event: StoredEvent) => void
}): EventBudget {
  const { limits, now, onLost } = options
  const total = createShelf()

  function drop(event: StoredEvent): void {
    const { sent } = event
    event.stream.evict(event)
    if (!sent) onLost(event)
  }

  return {
    get bytes() {
      return total.bytes
    },
    keeper() {
      const own = createShelf()
      return {
        added(event) {
          put(own, event)
          put(total, event)
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
          move(own, event)
          move(total, event)
        },
        removed(event) {
          take(own, event)
          take(total, event)
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
