import type { Caller } from '../../src/contracts/caller-auth.ts'
import type { Exchange } from '../../src/contracts/pipeline.ts'
import { isRequest } from '../../src/net/json-rpc.ts'

/** The longest time that a timer of Node can wait, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1
/** How often it is seen whether a response has begun that has to end, in milliseconds. */
const SOON_MS = 100

/**
 * Ends what a caller listens to when their token has ended, after `leewayMs` (milliseconds). A call that began in time
 * gets its response.
 */
export function endWithToken(exchange: Exchange, { claims }: Caller, leewayMs: number): void {
  const { response } = exchange
  const end = Number(claims.exp) * 1000 + leewayMs
  if (!Number.isFinite(end) || response.destroyed) return
  let timer: NodeJS.Timeout
  const wait = () => {
    const left = end - Date.now()
    // A request that came in time is let through: the end of nothing would look like a response.
    const isDue = left <= 0 && response.headersSent
    // Node keeps timers of the same length together, which is cheaper.
    const delay = Math.ceil(Math.max(left, SOON_MS) / SOON_MS) * SOON_MS
    timer = setTimeout(isDue ? over : wait, Math.min(delay, LONGEST_MS)).unref()
  }
  const over = async () => {
    if (!(await isListening(exchange)) || response.writableEnded) return
    const { socket } = response
    response.end()
    socket?.end() // what has no end of its own, such as a body with a length, ends with the connection
  }
  wait()
  response.once('close', () => clearTimeout(timer))
}

/** MCP 2025-11-25 listens with a GET, 2026-07-28 with a request. A body that nobody has read has gone by. */
async function isListening(exchange: Exchange): Promise<boolean> {
  if (exchange.request.method === 'GET') return true
  const message = exchange.buffered && (await exchange.message())
  return isRequest(message) && message.method === 'subscriptions/listen'
}
