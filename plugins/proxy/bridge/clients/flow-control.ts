import type { BridgeLimits } from '../bridge-limits.ts'

/** What a server sends, which can be held back: a stream of Node, for example. */
interface Output {
  pause(): unknown
  resume(): unknown
}

/** A stream whose client is connected and has not read all that was sent to it. */
interface SlowReader {
  /** The server was read slower for long enough; from now on the client is not waited for. */
  onStalled(): void
}

/** Lets the server wait for the streams of one client. */
export interface FlowControl {
  /** Whether a client that lacks this much should be waited for. */
  isBehind(events: number, bytes: number): boolean
  /** Waits for a client, which lacks that much. */
  behind(reader: SlowReader): void
  /** It has read everything, or has gone. */
  caughtUp(reader: SlowReader): void
}

/**
 * Reads the server slower while a client is behind, so that a burst of messages does not fill the memory or cost a
 * client that reads its connection. All clients of a server wait then, so each stream is waited for at most `stallMs`,
 * and each client at most `maxWaitMs` in a minute.
 */
export interface ServerFlow {
  /** Pauses and resumes this output of a server. Call what is returned at its end. */
  control(output: Output): () => void
  /** @param client tells one client from others */
  of(client: unknown): FlowControl
}

const MINUTE_MS = 60_000

export function createServerFlow({
  limits,
  now,
}: {
  limits: Pick<BridgeLimits, 'maxBehindEvents' | 'maxBehindBytes' | 'stallMs' | 'maxWaitMs'>
  now: () => number
}): ServerFlow {
  const { maxBehindEvents, maxBehindBytes, stallMs, maxWaitMs } = limits
  const outputs = new Set<Output>()
  const waiting = new Map<SlowReader, NodeJS.Timeout>()
  /** How long each client was waited for in the minute that began with the first time, oldest minute first. */
  const waits = new Map<unknown, { readonly since: number; ms: number }>()

  function waitOf(client: unknown): { ms: number } {
    for (const [oldest, { since }] of waits) {
      if (now() - since < MINUTE_MS) break
      waits.delete(oldest)
    }
    const wait = waits.get(client) ?? { since: now(), ms: 0 }
    waits.set(client, wait)
    return wait
  }

  function end(reader: SlowReader): boolean {
    clearTimeout(waiting.get(reader))
    const isKnown = waiting.delete(reader)
    if (isKnown && waiting.size === 0) for (const output of outputs) output.resume()
    return isKnown
  }

  return {
    control(output) {
      outputs.add(output)
      if (waiting.size > 0) output.pause()
      return () => {
        if (outputs.delete(output)) output.resume()
      }
    },
    of(client) {
      const began = new Map<SlowReader, number>()
      return {
        isBehind: (events, bytes) => events > maxBehindEvents || bytes > maxBehindBytes,
        behind(reader) {
          if (waiting.has(reader)) return
          if (waitOf(client).ms >= maxWaitMs) return reader.onStalled()
          if (waiting.size === 0) for (const output of outputs) output.pause()
          began.set(reader, now())
          const stalled = () => {
            // Whoever reads nothing costs the others one wait.
            waitOf(client).ms = maxWaitMs
            began.delete(reader)
            end(reader)
            reader.onStalled()
          }
          waiting.set(reader, setTimeout(stalled, stallMs).unref())
        },
        caughtUp(reader) {
          if (end(reader)) waitOf(client).ms += now() - (began.get(reader) ?? now())
          began.delete(reader)
        },
      }
    },
  }
}
