import type { Sender } from './create-sender.ts'

const FLUSH_MS = 2000

/** Waits until the SDK has sent what is left, for at most two seconds, and closes the sender. Never fails. */
export async function flush(
  parts: readonly ({ shutdown(): Promise<void> } | undefined)[],
  sender: Sender | undefined,
): Promise<void> {
  sender?.hurry()
  const flushed = Promise.allSettled(parts.map(part => part?.shutdown()))
  let timer: NodeJS.Timeout | undefined
  await Promise.race([flushed, new Promise(resolve => (timer = setTimeout(resolve, FLUSH_MS)))])
  clearTimeout(timer)
  await sender?.close()
}
