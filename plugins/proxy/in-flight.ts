import type { Exchange } from '../../src/contracts/pipeline.ts'
import { createSlots } from './slots.ts'

/** The exchanges whose responses are not finished. */
export interface InFlight {
  /** Holds the exchange until its response is closed. */
  add(exchange: Exchange): void
  /** Resolves when none is left. Long streams do not count: they would never end by themselves. */
  idle(): Promise<void>
}

export function createInFlight(): InFlight {
  const slots = createSlots<Exchange>()
  let onIdle: (() => void) | undefined
  const isBusy = () => slots.values().some(({ request }) => request.method !== 'GET')
  return {
    add(exchange) {
      const slot = slots.add(exchange)
      exchange.response.on('close', () => {
        slots.release(slot)
        if (onIdle && !isBusy()) onIdle()
      })
    },
    idle: () => (isBusy() ? new Promise(resolve => (onIdle = resolve)) : Promise.resolve()),
  }
}
