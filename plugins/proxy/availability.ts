import type { Exchange } from '../../src/contracts/pipeline.ts'
import { unavailable } from './request-refusal.ts'
import { requestId } from './send-refusal.ts'

/** Whether a server is behind the proxy. The one place where requests wait for it. */
export interface Availability {
  /** Why no server is available; undefined while one is. */
  readonly problem: string | undefined
  /** A server is available; waiting requests continue. */
  setAvailable(): void
  /** No server is available for now; new requests wait. */
  setUnavailable(problem: string): void
  /** The proxy closes: waiting requests, and all later ones, are refused at once. */
  close(problem: string): void
  /** True when a server is available; false after the wait, when too many requests wait, or when `signal` aborts. */
  wait(signal: AbortSignal): Promise<boolean>
}

/** How long a request waits for a server, in milliseconds, and how many requests may wait. */
export interface WaitLimits {
  readonly waitMs: number
  readonly maxWaiting: number
}

export function createAvailability({ waitMs, maxWaiting }: WaitLimits): Availability {
  let problem: string | undefined = 'the server is starting'
  let closed = false
  const waiting = new Set<(available: boolean) => void>()

  function settleAll(available: boolean): void {
    for (const settle of [...waiting]) settle(available)
  }

  return {
    get problem() {
      return problem
    },
    setAvailable() {
      if (closed) return
      problem = undefined
      settleAll(true)
    },
    setUnavailable(why) {
      if (!closed) problem = why
    },
    close(why) {
      closed = true
      problem = why
      settleAll(false)
    },
    async wait(signal) {
      if (problem === undefined) return true
      if (closed || waiting.size >= maxWaiting || signal.aborted) return false
      return new Promise(resolve => {
        const settle = (available: boolean) => {
          clearTimeout(timer)
          signal.removeEventListener('abort', giveUp)
          waiting.delete(settle)
          resolve(available)
        }
        const giveUp = () => settle(false)
        const timer = setTimeout(giveUp, waitMs)
        signal.addEventListener('abort', giveUp)
        waiting.add(settle)
      })
    },
  }
}

/** Waits until a server is available. Refuses the request (503) when that takes too long. */
export async function untilAvailable(
  availability: Availability,
  exchange: Exchange,
  idText?: string,
): Promise<void> {
  if (availability.problem === undefined || (await availability.wait(exchange.signal))) return
  const id = idText === undefined ? { id: await requestId(exchange) } : { idText }
  throw unavailable(`The server is not available: ${availability.problem}`, id, 2)
}
