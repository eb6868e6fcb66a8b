import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { ownerOf } from '../session-owner.ts'

/**
 * Headers that say nothing about who calls. All others are the credentials of a client for all we know: two clients
 * that differ in them have nothing in common at the server. `X-Forwarded-User` and the like name a person.
 */
const NOT_OF_CALLER =
  /^(?:accept|baggage$|cache-control$|connection$|content-|date$|dnt$|expect$|forwarded$|host$|keep-alive$|last-event-id$|mcp-|origin$|pragma$|priority$|referer$|sec-|te$|trace(?:parent|state)$|trailer$|transfer-encoding$|upgrade|user-agent$|via$|x-correlation-id$|x-forwarded-(?:for|host|port|prefix|proto|server)$|x-real-ip$|x-request-id$)/

/** Who calls, by login and credentials; of these, `leftOut` does not count. */
export function callerKey(exchange: Exchange, leftOut?: string): string {
  const owner = ownerOf(exchange)
  const isKnown = (name: string) => name === leftOut || (owner !== undefined && name === 'authorization')
  const headers = Object.entries(exchange.request.headers)
    .filter(([name]) => !NOT_OF_CALLER.test(name) && !isKnown(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([owner ?? null, headers])
}
