import { setTimeout as delay } from 'node:timers/promises'

const LOOK_MS = 20

/** How long to wait for what is in flight. */
export interface Patience {
  readonly graceMs: number
  readonly signal: AbortSignal
}

/** Waits until nothing is in flight, for `graceMs` at most, or until the signal aborts. Polls, so that requests need not report their end. */
export async function untilDrained(isDone: () => boolean, { graceMs, signal }: Patience): Promise<void> {
  const deadline = Date.now() + graceMs
  while (!isDone() && Date.now() < deadline && !signal.aborted) {
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
}
