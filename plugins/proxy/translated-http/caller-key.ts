import type { Exchange } from '../../../src/contracts/pipeline.ts'
import { ownerOf } from '../session-owner.ts'

/**
 * Headers that say nothing about who calls. All others are the credentials of a client for all we know: two clients
 * that differ in them have nothing in common at the server. `X-Forwarded-User` and the like name a person.
 */
const NOT_OF_CALLER =
  /^(?:accept|baggage$|cache-control$|connection$|content-|date$|dnt$|expect$|forwarded$|host$|keep-alive$|last-event-id$|mcp-|origin$|pragma$|priority$|referer$|sec-|te$|trace(?:parent|state)$|trailer$|transfer-encoding$|upgrade|user-agent$|via$|x-correlation-id$|x-forwarded-(?:for|host|port|prefix|proto|server)$|x-real-ip$|x-request-id$)/

/** Who calls, by login and credentials. */
export function callerKey(exchange: Exchange): string {
  const owner = ownerOf(exchange)
  const headers = Object.entries(exchange.request.headers)
    .filter(([name]) => !NOT_OF_CALLER.test(name) && !(owner !== undefined && name === 'authorization'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([owner ?? null, headers])
}
