import type { Exchange } from '../../src/contracts/pipeline.ts'
import { type Refusal, unavailable } from './request-refusal.ts'
import { requestId } from './send-refusal.ts'

/** The refusal of a request that may succeed later, before or after it was sent. */
export async function refuseUnavailable(
  exchange: Exchange,
  problem: string,
  retrySeconds: number,
): Promise<Refusal> {
  // A body that has streamed through cannot be read again for its id.
  const isGone = exchange.request.readableDidRead && !exchange.buffered
  const id = isGone ? undefined : await requestId(exchange)
  return unavailable(problem, { id }, retrySeconds)
}
