import type { RequestListener } from 'node:http'
import type { Handler } from '../../src/contracts/pipeline.ts'
import type { Log } from '../../src/log.ts'
import { createExchange, type ExchangeParts } from './exchange.ts'
import type { InFlight } from './in-flight.ts'
import { sendRefusal } from './send-refusal.ts'

/** Makes an exchange of each request, and a response of what the handler fails with. */
export function toRequestListener(
  handler: Handler,
  { parts, inFlight, log }: { parts: ExchangeParts; inFlight: InFlight; log: Log },
): RequestListener {
  return (request, response) => {
    const exchange = createExchange(request, response, parts)
    inFlight.add(exchange)
    // Broken connections are seen by 'close'; without a listener they would end the process.
    response.on('error', () => {})
    try {
      const pending = handler(exchange)
      if (pending) pending.catch(error => sendRefusal(exchange, error, log))
    } catch (error) {
      sendRefusal(exchange, error, log)
    }
  }
}
