import type { Exchange } from '../../src/contracts/pipeline.ts'
import { rpcRefusal } from '../proxy/index.ts'
import { idTextOf } from './counted-calls.ts'

/** The code of the JSON-RPC error, as the HTTP status. */
const TOO_MANY = 429

/** The refusal (429) of calls that may be made again after `waitMs` milliseconds. */
export async function tooMany(exchange: Exchange, message: string, waitMs: number): Promise<Error> {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return rpcRefusal(TOO_MANY, TOO_MANY, message, {
    idText: await idTextOf(exchange),
    data: { retryAfterSeconds: seconds },
    headers: { 'retry-after': String(seconds) },
  })
}
