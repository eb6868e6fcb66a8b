import type { Handler } from '../../src/contracts/pipeline.ts'
import { type Availability, untilAvailable } from './availability.ts'
import type { Forwarder } from './forwarder.ts'
import type { Rewrites } from './rewrite/compose-rewrites.ts'

/**
 * The end of a pipeline: what goes to the server. It returns no promise of its own where nothing has to be waited for,
 * so that the common request costs none.
 */
export const forwardTo =
  (
    forwarder: Forwarder,
    { availability, rewrites }: { availability: Availability; rewrites: Rewrites },
  ): Handler =>
  exchange => {
    const isAvailable = availability.problem === undefined
    const planned = rewrites.of(exchange)
    if (!planned) {
      return isAvailable
        ? forwarder.handle(exchange, undefined)
        : untilAvailable(availability, exchange).then(() => forwarder.handle(exchange, undefined))
    }
    return planned.then(async rewriting => {
      if (!isAvailable) await untilAvailable(availability, exchange)
      return forwarder.handle(exchange, rewriting)
    })
  }
