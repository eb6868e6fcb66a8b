import type { Readable } from 'node:stream'
import type { BridgeLimits } from './bridge-limits.ts'

/** A client that is connected and has not read all that was sent to it. */
interface SlowReader {
  /** The server was read slower for long enough; from now on the client is not waited for. */
  onStalled(): void
}

/**
 * Reads the server slower while a client is behind, so that a burst of messages does not fill the memory or cost a
 * client that reads its connection. All clients of a server wait then, so each is waited for at most `stallMs`.
 */
export interface FlowControl {
  /** Pauses and resumes this output of a server process. Call what is returned at its end. */
  control(output: Pick<Readable, 'pause' | 'resume'>): () => void
  /** Whether a client that lacks this much should be waited for. */
  isBehind(events: number, bytes: number): boolean
  /** Waits for a client, which lacks that much. */
  behind(reader: SlowReader): void
  /** It has read everything, or has gone. */
  caughtUp(reader: SlowReader): void
}

export function createFlowControl({
  maxBehindEvents,
  maxBehindBytes,
  stallMs,
}: Pick<BridgeLimits, 'maxBehindEvents' | 'maxBehindBytes' | 'stallMs'>): FlowControl {
  const outputs = new Set<Pick<Readable, 'pause' | 'resume'>>()
  const waiting = new Map<SlowReader, NodeJS.Timeout>()

  function caughtUp(reader: SlowReader): void {
    clearTimeout(waiting.get(reader))
    if (waiting.delete(reader) && waiting.size === 0) for (const output of outputs) output.resume()
  }

  return {
    control(output) {
      outputs.add(output)
      if (waiting.size > 0) output.pause()
      return () => {
        if (outputs.delete(output)) output.resume()
      }
    },
    isBehind: (events, bytes) => events > maxBehindEvents || bytes > maxBehindBytes,
    behind(reader) {
      if (waiting.has(reader)) return
      if (waiting.size === 0) for (const output of outputs) output.pause()
      const stalled = () => {
        caughtUp(reader)
        reader.onStalled()
      }
      waiting.set(reader, setTimeout(stalled, stallMs).unref())
    },
    caughtUp,
  }
}
