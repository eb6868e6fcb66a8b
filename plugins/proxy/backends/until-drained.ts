import { setTimeout as delay } from 'node:timers/promises'

const LOOK_MS = 20

/** How long to wait for what is under way. */
export interface Patience {
  readonly graceMs: number
  readonly signal: AbortSignal
}

/** Waits until nothing is under way any more, at most `graceMs`, or until the signal aborts. Looks, so that requests need not tell. */
export async function untilDrained(isDone: () => boolean, { graceMs, signal }: Patience): Promise<void> {
  const deadline = Date.now() + graceMs
  while (!isDone() && Date.now() < deadline && !signal.aborted) {
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
}
